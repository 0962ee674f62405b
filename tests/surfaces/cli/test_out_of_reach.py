"""The agent can't influence its judge: neither changes during a run nor its own calls have an effect.

In some tests the agent kills its driver, so that no defence passes only because the driver remembers it all.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.surfaces.cli.helpers import Cli, Done, Invoke, eventually, script, write
from untilgreen.surfaces.cli.main import VERBS

STRICT = """\
from untilgreen import Verdict


class Strict:
    async def check(self, workspace):
        there = (workspace.root / "answer.txt").exists()
        return Verdict(status="pass" if there else "fail", score=float(there))
"""
LENIENT = STRICT.replace('(workspace.root / "answer.txt").exists()', "True")
KILL = "kill -9 $PPID; sleep 5\n"


def killed_and_resumed(cli: Cli, agent: str, *flags: str) -> Done:
    """Run an agent that does something in its first turn and kills the driver; then resume the run."""
    body = f"cat > /dev/null\ntest -e {cli.tmp}/once && exit 0\ntouch {cli.tmp}/once\n{agent}\n{KILL}"
    began = cli("run", "Mend it.", "-a", cli.agent(body), "--max-iterations", "1", *flags)
    assert began.code == -9, began.err
    return cli("resume", "--json")


def test_plugins_are_loaded_from_the_copy_of_the_run(cli: Cli) -> None:
    write(cli.place, {"judge.py": STRICT})
    write(cli.tmp, {"lenient.py": LENIENT})

    done = killed_and_resumed(
        cli,
        f"cp {cli.tmp}/lenient.py judge.py",
        *("--set", "gates.judge={use='./judge.py:Strict'}", "--set", "leave='last'"),
    )

    assert (done.code, done.result["outcome"]) == (3, "exhausted")
    assert "True" in (cli.place / "judge.py").read_text()


def test_the_spec_and_the_task_are_those_of_the_start(cli: Cli) -> None:
    spec = "task_file = 'PROMPT.md'\n[gates.answer]\nrun = 'test -e answer.txt'\n"
    write(cli.place, {"untilgreen.toml": spec, "PROMPT.md": "Find the answer.\n"})
    cheat = "printf '[gates.answer]\\nrun = \"true\"\\n' > untilgreen.toml; echo 'Do nothing.' > PROMPT.md"
    body = f"cat > {cli.tmp}/told\ntest -e {cli.tmp}/once && exit 0\ntouch {cli.tmp}/once\n{cheat}\n{KILL}"
    began = cli("run", "--trust", "-a", cli.agent(body), "--max-iterations", "2")
    assert began.code == -9, began.err

    done = cli("resume", "--json")

    assert (done.code, done.result["outcome"]) == (3, "exhausted")
    assert "Find the answer." in (cli.tmp / "told").read_text()
    assert "Do nothing." not in (cli.tmp / "told").read_text()


@pytest.mark.parametrize(
    ("program", "key", "wanted", "weakened"),
    [
        ("cat notes.txt", "equals_file", "mended", "cp notes.txt"),
        ("echo 1", "json_schema", '{"type": "string"}', "cp /dev/null wanted.txt; echo {} | tee"),
    ],
)
def test_files_that_levels_compare_with_are_those_of_the_start(
    cli: Cli, program: str, key: str, wanted: str, weakened: str
) -> None:
    spec = f"""
[gates.levels]
kind = "levels"
min_level = "L2"
[gates.levels.L0]
required = ["notes.txt"]
[gates.levels.L1]
run = ["true"]
[[gates.levels.L2.cases]]
run = "{program}"
{key} = "wanted.txt"
"""
    write(cli.place, {"untilgreen.toml": spec, "wanted.txt": f"{wanted}\n"})
    agent = cli.agent(f"cat > /dev/null\n{weakened} wanted.txt\n")

    done = cli("run", "Mend it.", "--trust", "-a", agent, "--max-iterations", "1", "--json")

    assert (done.code, done.result["outcome"]) == (3, "exhausted")
    (found,) = done.result["history"][-1]["verdicts"]["levels"]["findings"]
    assert found["id"].startswith(f"L2 {program}: ")


def test_a_gates_script_that_the_agent_rewrites_is_put_back_and_run_again(cli: Cli) -> None:
    script(cli.place / "check.sh", "sh helper.sh\n")
    write(cli.place, {"helper.sh": "test -e answer.txt\n"})
    agent = cli.agent("cat > /dev/null\necho exit 0 > helper.sh\n")

    done = cli("run", "Mend it.", "-a", agent, "-g", "./check.sh", "--max-iterations", "1", "--json")

    assert done.result["outcome"] != "converged"
    verdicts = done.result["history"][-1]["verdicts"]
    assert (verdicts["./check.sh"]["status"], verdicts["integrity"]["status"]) == ("pass", "fail")
    assert any("helper.sh" in finding["id"] for finding in verdicts["integrity"]["findings"])


@pytest.mark.parametrize("way", ["resume", "detach"])
def test_a_module_that_the_agent_leaves_there_is_not_imported_as_ours(cli: Cli, way: str) -> None:
    planted = f"open({str(cli.tmp / 'planted')!r}, 'w')\nraise SystemExit(0)\n"
    write(cli.tmp, {"planted.py": planted})
    body = (
        f"cat > /dev/null\ntest -e {cli.tmp}/once && {{ echo > answer.txt; exit 0; }}\ntouch {cli.tmp}/once\n"
    )
    names = ("anyio", "msgspec", "cyclopts", "psutil", *(("untilgreen",) if way == "detach" else ()))
    leave = "".join(f"cp {cli.tmp}/planted.py {name}.py\n" for name in names)
    flags = ("-g", "test -e answer.txt", "--set", "integrity.enabled=false")
    assert cli("run", "Mend it.", "-a", cli.agent(body + leave + KILL), *flags).code == -9

    if way == "detach":
        done = cli("resume", cli.ids[0], "--detach", "-C", str(cli.place), cwd=cli.tmp)
    else:
        done = cli("resume", "--json")

    assert done.code == 0, done.err
    assert not (cli.tmp / "planted").exists()
    eventually(lambda: cli.journal(cli.ids[0])[-1]["type"] == "RunFinished")
    assert not (cli.tmp / "planted").exists()


REFUSED = {
    "answer": ("answer", "@last", "accept"),
    "restore": ("restore", "@last@0"),
    "apply": ("apply", "@last"),
    "prune": ("prune", "--keep", "0d"),
    "trust": ("trust", "--yes"),
    "install": ("install", "claude"),
    "uninstall": ("uninstall", "claude"),
    "fork": ("fork", "@last", "--in-place"),
    "serve": ("serve", "--port", "0"),
    "acp": ("acp",),
    "worker": ("worker",),
}
"""Verbs for people only: they change what is judged, what judges it, or what counts as a person's word."""
HARMLESS = {
    **dict.fromkeys(
        ("list", "show", "log", "why", "follow", "report", "verify", "diff", "config", "schema"), "only reads"
    ),
    **dict.fromkeys(
        ("plugins", "doctor", "fingerprint", "backtest", "completion", "help", "demo"), "only reads"
    ),
    **dict.fromkeys(("stop", "cancel", "pause"), "ends or pauses a run, which is never a success"),
    "export": "only reads, and sends nothing that the agent said unless asked",
    "learn": "only reads; --forget is refused",
    "steer": "is a note to the agent itself",
    **dict.fromkeys(("run", "plan", "check"), "starts from scratch, and asks a person about an unknown spec"),
    "resume": "continues from the journal; --take is refused",
    "init": "writes a spec, but doesn't trust it inside a run",
    "session": "is called by an agent's own commands; gates judge the result",
    "hook": "is called by an agent's hooks; gates judge the result",
    "fleet": "only reads; up, init and limit are refused",
    "mcp": "reads, steers and stops; an agent inside a run can't start another, and answers are refused",
}
"""All other verbs, and why an agent may call them."""


def test_for_every_verb_it_is_decided_whether_an_agent_may_call_it() -> None:
    assert not REFUSED.keys() & HARMLESS.keys()
    assert {*REFUSED, *HARMLESS} == set(VERBS)


@pytest.mark.parametrize(
    "call",
    [
        *REFUSED.values(),
        ("fleet", "up"),
        ("fleet", "init", "postgresql://h/d", "--temporal", "h:1"),
        ("fleet", "limit", "claude", "2"),
        ("trust", "--revoke"),
        ("check", "--trust"),
        ("run", "x", "-a", "cmd:true", "--trust"),
    ],
    ids=" ".join,
)
def test_a_persons_decision_is_refused_by_the_mark_of_an_agent(
    cli: Cli, invoke: Invoke, monkeypatch: pytest.MonkeyPatch, call: tuple[str, ...]
) -> None:
    (Path(cli.env["HOME"]) / ".claude").mkdir(exist_ok=True)
    write(cli.place, {"untilgreen.toml": "[gates.green]\nrun = 'true'\n"})
    if call[0] == "fork":  # the run to fork is looked up first
        assert cli("run", "Mend it.", "--trust", "-a", cli.agent("true"), "--in-place").code == 0
    monkeypatch.setenv("CLAUDECODE", "1")

    refused = invoke(*call)

    assert refused.code == 2
    assert "is for people, not for agents, and CLAUDECODE is set here" in refused.err


def test_a_persons_decision_is_refused_inside_a_real_turn(cli: Cli) -> None:
    """The agent calls each of them itself, with the variables of its turn."""
    (Path(cli.env["HOME"]) / ".claude").mkdir()
    write(cli.place, {"untilgreen.toml": "[gates.green]\nrun = 'true'\n"})
    calls = [*REFUSED.values(), ("check", "--trust"), ("run", "x", "-a", "cmd:true", "--trust")]
    lines = [f"{sys.executable} -m untilgreen {' '.join(call)}; echo $?" for call in calls]
    body = "cat > /dev/null\n" + "".join(f"({line}) >> {cli.tmp}/said 2>&1 </dev/null\n" for line in lines)
    quick = ("--max-iterations", "1", "-c", str(cli.tmp / "none.toml"))
    write(cli.tmp, {"none.toml": "[gates.red]\nrun = 'false'\n"})

    assert cli("run", "Mend it.", "--trust", "-a", cli.agent(body), *quick).code == 3

    said = (cli.tmp / "said").read_text()
    assert said.count("is for people, not for agents, and UNTILGREEN_INSIDE is set here") == len(calls)
    assert [line for line in said.splitlines() if line.isdigit()] == ["2"] * len(calls)


NAMESPACES = [
    how
    for how in ("unshare -Urpf --mount-proc", "unshare -Urpf")
    if sys.platform == "linux"
    and subprocess.run([*how.split(), "true"], check=False, stderr=-3).returncode == 0
]
"""Ways to give the agent its own process namespace, if this system allows them."""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers, which adopt orphans")
@pytest.mark.parametrize("how", ["a clean environment", "a family of its own", *NAMESPACES])
def test_an_agent_that_hides_where_it_comes_from_is_refused_as_well(cli: Cli, how: str) -> None:
    names = ("PATH", "HOME", "LANG", "UNTILGREEN_STATE_DIR")
    clean = " ".join(["env", "-i", *(f'{name}="${name}"' for name in names)])
    answer = f"{clean} {sys.executable} -m untilgreen answer @last approve --as ann"
    call = f"{answer} > {cli.tmp}/draft 2>&1; mv {cli.tmp}/draft {cli.tmp}/said"
    write(cli.tmp, {"call.sh": f"sleep 0.3\n{call}\n"})
    within = how == "a clean environment"
    begin = f"sh {cli.tmp}/call.sh" if within else f"({clean} setsid sh {cli.tmp}/call.sh &)"
    begin = f"{clean} {how} sh {cli.tmp}/call.sh" if how in NAMESPACES else begin
    agent = cli.agent(f"cat > /dev/null\n{begin}\nuntil test -e {cli.tmp}/said; do sleep 0.1; done\n")
    sign_off = "gates.sign-off={kind='approval', people=['ann']}"

    done = cli("run", "Mend it.", "-a", agent, "--max-iterations", "1", "--set", sign_off, "--no-input")

    said = (cli.tmp / "said").read_text()
    if how in NAMESPACES:
        assert "is for people, not for agents, and it is unclear what started this command" in said
    else:
        assert f"is for people, not for agents, and run {cli.ids[0]} started this command" in said
    assert done.code == 5, done.err
    assert not [event for event in cli.journal(cli.ids[0]) if event["type"] == "Approved"]


@pytest.mark.parametrize("mark", ["CLAUDECODE", "UNTILGREEN_INSIDE"])
def test_an_agent_takes_no_run_out_of_its_session(
    cli: Cli, invoke: Invoke, monkeypatch: pytest.MonkeyPatch, mark: str
) -> None:
    gate = ("--gate", "test -e answer.txt")
    begun = invoke("session", "start", "Mend it.", "--session", "s-1", "--agent", "claude", *gate)
    assert begun.code == 0, begun.err
    monkeypatch.setenv(mark, "1")

    taken = invoke("resume", cli.ids[0], "--take", "--no-input")

    assert taken.code == 2
    assert f"`untilgreen resume --take` is for people, not for agents, and {mark} is set here" in taken.err
