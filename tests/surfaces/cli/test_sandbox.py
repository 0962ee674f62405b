"""--sandbox bwrap, in whole runs with the real bubblewrap: what an agent tries, and how far it gets."""

import json
import os
import shutil
import socket
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.surfaces.cli.helpers import (
    GREEN_CALC,
    UNITTEST,
    Cli,
    Done,
    Invoke,
    git,
    repository,
    script,
    write,
)

pytestmark = pytest.mark.skipif(
    shutil.which("bwrap") is None, reason="bubblewrap is not installed: make test-sandbox"
)
AS_ROOT = str(os.getuid() == 0).lower()
BWRAP = ("--sandbox", "bwrap", "--set", f"sandbox.as_root={AS_ROOT}")
MENDED = "grep -q mended notes.txt"
HIDDEN = "test ! -e ~/.ssh"
"""Green only inside the sandbox."""


@pytest.fixture(autouse=True)
def keys(cli: Cli) -> Path:
    keys = Path(cli.env["HOME"], ".ssh")
    keys.mkdir()
    (keys / "id").write_text("the key\n")
    return keys


def mended(cli: Cli, agent: str, *flags: str, gate: str = MENDED) -> Done:
    body = f"cat > /dev/null\n{agent}\necho mended > notes.txt\n"
    sandbox = () if "--sandbox" in flags else BWRAP
    return cli("run", "Mend it.", *sandbox, "-a", cli.agent(body), "-g", gate, *flags)


def test_an_agent_in_place_reaches_neither_keys_nor_state_nor_the_repository(cli: Cli) -> None:
    planted = Path(__file__).resolve().parents[3] / "planted-by-an-agent"
    before = {path: path.read_bytes() for path in sorted((cli.place / ".git").glob("*")) if path.is_file()}
    tries = f"""
cat ~/.ssh/id > seen.txt 2>&1
ls {cli.runs} >> seen.txt 2>&1
touch {planted} /etc/planted-by-an-agent >> seen.txt 2>&1
echo '[core] fsmonitor = touch escaped' >> .git/config
echo 'touch escaped' > .git/hooks/post-commit
mv .git elsewhere; git commit -qam planted 2> commit.txt; git checkout -qb planted; git stash
env > env.txt
"""
    done = mended(cli, tries, "--json")

    assert (done.code, done.result["outcome"]) == (0, "converged"), done.err
    seen = (cli.place / "seen.txt").read_text()
    assert "the key" not in seen
    assert seen.count("No such file or directory") >= 2
    assert "Read-only file system" in seen
    assert "Read-only file system" in (cli.place / "commit.txt").read_text()
    assert not planted.exists()
    assert {path: path.read_bytes() for path in before} == before
    assert git(cli.place, "stash", "list") == ""
    assert git(cli.place, "branch", "--format=%(refname:short)").split() == [
        git(cli.place, "branch", "--show-current").strip()
    ]
    assert "UNTILGREEN_INSIDE=" + cli.ids[0] in (cli.place / "env.txt").read_text()


def test_an_agent_in_a_worktree_commits_on_its_own_branch_and_on_no_other(cli: Cli) -> None:
    git(cli.place, "config", "user.name", "A")
    git(cli.place, "config", "user.email", "a@example.org")
    head, config = git(cli.place, "rev-parse", "HEAD"), (cli.place / ".git" / "config").read_bytes()
    tries = """
common=$(git rev-parse --git-common-dir) own=$(git rev-parse --git-dir)
echo early > early.txt; git add -A; git commit -qm 'by the agent' || echo no >> failed.txt
git branch planted; git tag planted
git update-ref refs/heads/master HEAD; git update-ref refs/heads/main HEAD
echo 'touch escaped' > $common/hooks/post-commit; echo '[core] fsmonitor = x' >> $common/config
echo '[core] fsmonitor = x' > $own/config.worktree; echo /tmp > $own/commondir; mv $own/commondir $own/other
echo 'gitdir: /tmp' > .git; mv .git other; rm -rf $common/objects/pack
"""
    done = mended(cli, tries, "--worktree", "--json")

    assert (done.code, done.result["outcome"]) == (0, "converged"), done.err
    branch = done.result["branch"]
    assert git(cli.place, "show", f"{branch}:early.txt") == "early\n"
    assert "failed.txt" not in git(cli.place, "ls-tree", "--name-only", branch).split()
    kept = git(cli.place, "log", "-1", "--format=%s", f"refs/untilgreen/{cli.ids[0]}/commits")
    assert kept == "by the agent\n"
    assert git(cli.place, "rev-parse", "HEAD") == head
    assert (cli.place / ".git" / "config").read_bytes() == config
    hooks = [each for each in (cli.place / ".git" / "hooks").iterdir() if each.suffix != ".sample"]
    assert hooks == []
    names = git(cli.place, "for-each-ref", "--format=%(refname)")
    assert "planted" not in names
    git(cli.place, "fsck", "--strict")


def test_a_repository_that_the_agent_makes_runs_nothing_when_its_work_is_kept(cli: Cli) -> None:
    """Snapshots are taken outside the sandbox, by our own git, which comes across every nested repository."""
    escaped = cli.place.parent / "escaped"
    tries = f"""
test -e sub || {{ git init -q sub && cd sub && git config user.name A && git config user.email a@b
echo one > file; echo '* filter=evil' > .gitattributes; git add -A; git commit -qm one
git config filter.evil.clean 'touch {escaped}; cat'; git config filter.evil.required true
git config core.fsmonitor 'touch {escaped}'
printf '#!/bin/sh\\ntouch {escaped}' > .git/hooks/post-index-change
chmod +x .git/hooks/*; echo two > file; cd ..; }}
echo x >> sub/file; echo x >> other.txt
"""
    flags = ("--max-iterations", "3", "--set", "detectors=[]")
    done = mended(cli, tries, *flags, gate="test $(wc -l < other.txt) -ge 3")

    assert (cli.place / "sub" / ".git" / "config").exists()
    assert done.code == 0, done.out + done.err
    assert cli("diff").code == 0
    assert cli("restore", f"{cli.ids[0]}@1").code == 0
    assert not escaped.exists()
    git(cli.place / "sub", "status")  # a person who runs git there is not protected
    assert escaped.exists()


def test_a_repository_made_where_there_was_none_is_not_mistaken_for_the_users(cli: Cli) -> None:
    cli.place, escaped = cli.tmp / "plain", cli.tmp / "escaped"
    write(cli.place, {"notes.txt": "start\n"})
    tries = f"""
git init -q . && git config filter.evil.clean 'touch {escaped}; cat'
echo '* filter=evil' > .gitattributes
"""
    assert mended(cli, tries).code == 0
    assert (cli.place / ".git" / "config").exists()

    assert cli("diff").code == 0
    assert cli("restore", f"{cli.ids[0]}@0").code == 0
    assert (cli.place / "notes.txt").read_text() == "start\n"
    assert not escaped.exists()
    write(cli.place, {".gitattributes": "* filter=evil\n"})
    git(cli.place, "add", "--all")  # the trap works for a person's own git
    assert escaped.exists()


def test_gates_have_no_network_where_only_agents_may(cli: Cli) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        connect = f"import socket; socket.create_connection(('127.0.0.1', {server.getsockname()[1]}), 5)"
        python = f'{sys.executable} -c "{connect}"'
        only = ("--set", "sandbox.network='agents'")
        agents = mended(cli, f"{python} && touch reached", *only, gate=f"test -e reached && ! {python}")
        every = cli("check", *BWRAP, "-g", python)

    assert agents.code == 0, agents.out
    assert every.code == 0


def test_the_sandbox_is_part_of_the_plan_so_that_resume_verify_and_fork_have_it_too(cli: Cli) -> None:
    flags = ("-g", f"mended={MENDED}", "-g", f"hidden={HIDDEN}", "-a", "cmd:./fix.sh")
    script(cli.place / "fix.sh", "cat > /dev/null\nrm fix.sh\n")
    assert cli("run", "Mend it.", *BWRAP, *flags).code == 4
    script(cli.place / "fix.sh", "cat > /dev/null\ntest -e ~/.ssh || echo mended > notes.txt\n")

    resumed, verified = cli("resume"), cli("verify", "--json")
    forked = cli("fork", cli.ids[0], "--no-input")

    assert (resumed.code, verified.code) == (0, 0), resumed.out + verified.out
    assert (forked.code, len(cli.ids)) == (0, 2), forked.err
    first, second = [cli.journal(run)[0]["plan"]["sandbox"] for run in cli.ids]
    assert (first, first["mode"]) == (second, "bwrap")
    assert cli("check", "-g", HIDDEN).code == 1


def test_gates_run_again_in_a_copy_are_in_the_sandbox_too(calc: Cli) -> None:
    more = "import unittest\nclass More(unittest.TestCase):\n    def test_more(self): pass\n"
    write(calc.tmp, {"calc.py": GREEN_CALC, "test_more.py": more})
    agent = calc.agent(f"cat > /dev/null\ncp {calc.tmp}/calc.py {calc.tmp}/test_more.py .\n")
    done = calc("run", "Add.", *BWRAP, "-a", agent, "-g", f"{UNITTEST} && {HIDDEN}", "--worktree", "--json")

    assert (done.code, done.result["outcome"]) == (0, "converged"), done.out
    (guard,) = [event for event in done.events if event.get("gate") == "integrity" and event["lap"] == 1]
    assert "originals put back" in guard["verdict"]["excerpt"]


def test_a_worktree_is_set_up_inside(cli: Cli) -> None:
    git(cli.place, "config", "user.name", "A")
    setup = "workspace={mode='worktree', setup='test ! -e ~/.ssh && touch ready'}"
    (cli.place / ".git" / "info" / "exclude").write_text("ready\n")

    done = mended(cli, "test -e ready", "--set", setup, gate=f"test -e ready && {MENDED}")

    assert done.code == 0, done.err


def test_every_layer_can_ask_for_it_and_config_show_says_which(cli: Cli, invoke: Invoke) -> None:
    spec = "[profiles.safe.sandbox]\nmode = 'bwrap'\nnetwork = 'agents'\n"
    (cli.place / "untilgreen.toml").write_text(spec)

    shown = invoke("config", "show", "--sources", *BWRAP).out
    by_profile = invoke("config", "show", "--sources", "--profile", "safe", *BWRAP).out
    by_variable = cli("config", "show", "--sources", env={"UNTILGREEN_SANDBOX": "bwrap"}).out

    assert "sandbox.mode = 'bwrap'" in shown.replace('"', "'")
    assert "sandbox.network = 'agents'" in by_profile.replace('"', "'")
    assert "variable UNTILGREEN_SANDBOX" in by_variable


def test_without_bubblewrap_a_run_ends_with_4_and_leaves_nothing(cli: Cli) -> None:
    programs = cli.tmp / "programs"
    programs.mkdir()
    for name in ("git", "sh", "cat", "grep"):
        (programs / name).symlink_to(shutil.which(name) or name)
    bare = {"PATH": str(programs)}

    ran = cli("run", "Mend it.", *BWRAP, "-a", "cmd:touch began", "-g", MENDED, env=bare)
    checked = cli("check", *BWRAP, "-g", "touch began", env=bare)
    looked = cli("doctor", *BWRAP, env=bare)

    assert (ran.code, checked.code, looked.code) == (4, 4, 1)
    assert "apt install bubblewrap" in ran.err
    assert "apt install bubblewrap" in checked.err
    assert "x sandbox: bwrap is not installed, and the spec asks for it" in looked.out.replace("✕", "x")
    assert cli.ids == []
    assert not (cli.place / "began").exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root is refused")
def test_a_driver_that_is_root_is_shown_the_way_out_and_starts_nothing(cli: Cli) -> None:
    ran = cli("run", "Mend it.", "--sandbox", "bwrap", "-a", "cmd:touch began", "-g", MENDED)
    checked = cli("check", "--sandbox", "bwrap", "-g", "touch began")

    assert (ran.code, checked.code) == (4, 4)
    assert "runuser -u NAME -- untilgreen run" in ran.err
    assert "sandbox.as_root=true" in checked.err
    assert cli.ids == []
    assert not (cli.place / "began").exists()


def test_doctor_tries_a_sandbox_inside_of_a_sandbox(cli: Cli) -> None:
    out = cli("doctor").out
    assert "bwrap works, even nested" in out
    assert "(rlimits)" in out or "(cgroup v2)" in out


def test_a_workspace_that_is_the_home_directory_can_not_be_closed_off(cli: Cli) -> None:
    home = Path(cli.env["HOME"])
    repository(home, {"notes.txt": "start\n"})

    done = cli("run", "Mend it.", *BWRAP, "-a", "cmd:true", "-g", MENDED, cwd=home)

    assert done.code == 2
    assert "The sandbox hides the home directory" in done.err
    assert cli.ids == []


def test_what_the_spec_lets_in_is_let_in(cli: Cli) -> None:
    home, elsewhere = Path(cli.env["HOME"]), cli.tmp / "elsewhere"
    elsewhere.mkdir()
    (home / ".npmrc").write_text("registry\n")
    let_in = f"{{mode='bwrap', as_root={AS_ROOT}, read=['~/.npmrc'], write=['{elsewhere}'], env=['TEAM_*']}}"
    agent = (
        f'cat ~/.npmrc > seen.txt; echo x > ~/.npmrc; echo "$TEAM_TOKEN" > {elsewhere}/team; id >> seen.txt'
    )

    cli.env["TEAM_TOKEN"] = "t"
    done = mended(cli, agent, "--set", f"sandbox={let_in}")

    assert done.code == 0, done.err
    assert (cli.place / "seen.txt").read_text().startswith("registry\n")
    assert (home / ".npmrc").read_text() == "registry\n"
    assert (elsewhere / "team").read_text() == "t\n"
    assert (cli.place / "seen.txt").stat().st_uid == os.getuid()


def test_a_judge_is_in_the_sandbox_too(cli: Cli) -> None:
    judge = """cat > /dev/null
if test -e ~/.ssh; then verdict=FAIL; else verdict=PASS; fi
echo '{"verdict": "'$verdict'", "reasons": ["the keys can be read"]}'
"""
    review = f'gates.review={{kind = "judge", agent = "{cli.agent(judge, "judge.sh")}"}}'
    inside = mended(cli, "", "--set", review)
    outside = mended(cli, "touch new.txt", "--set", review, "--sandbox", "none", "--max-iterations", "1")

    assert inside.code == 0, inside.err
    assert (outside.code, "the keys can be read" in outside.err) == (3, True), outside


def test_the_gates_of_a_session_are_in_the_sandbox_too(cli: Cli) -> None:
    session = ("--session", "one", "--agent", "claude")
    payload = {
        "session_id": "one",
        "cwd": str(cli.place),
        "last_assistant_message": "<promise>DONE</promise>",
    }
    write(cli.place, {"untilgreen.toml": f'sandbox = {{mode = "bwrap", as_root = {AS_ROOT}}}\n'})
    cli("trust", "--yes")
    started = cli("session", "start", "Mend it.", *session, "--gate", f"{HIDDEN} && {MENDED}")
    (cli.place / "notes.txt").write_text("mended\n")
    stopped = cli("hook", "stop", "--agent", "claude", stdin=json.dumps(payload))

    assert (started.code, stopped.code) == (0, 0), (started, stopped)
    assert "complete after 1 lap: converged" in stopped.out
