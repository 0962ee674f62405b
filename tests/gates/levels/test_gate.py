"""Levels: each kind of check, which level requires which, and malformed tables."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from untilgreen.core.values.model import Verdict
from untilgreen.errors import ConfigError
from untilgreen.gates.levels.work_files import LARGEST_DATA
from untilgreen.plugins.registry import registry
from untilgreen.ports import CheckContext, Mount, Sandbox

pytestmark = pytest.mark.anyio
PYTHON = sys.executable


@pytest.fixture
def project(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "app.py").write_text("print('hello world')\n")
    (tmp_path / "README.md").write_text("# app\n")
    (tmp_path / "package.json").write_text(json.dumps({"name": "app", "version": "1.2.3", "files": ["src"]}))
    return tmp_path


PASSING_L0: dict[str, Any] = {"required": ["README.md"]}
PASSING_L1: dict[str, Any] = {"run": ["true"]}


async def check(root: Path, sandbox: Sandbox | None = None, **options: Any) -> Verdict:
    gate = registry.create("gate", "levels", options).object
    verdict = await gate.check(CheckContext(root=root, sandbox=sandbox))
    assert isinstance(verdict, Verdict)
    return verdict


def called(script: str, place: Path) -> None:
    subprocess.run(["sh", "-ec", script], cwd=place, check=True)


def ids(verdict: Verdict) -> list[str]:
    return [finding.id for finding in verdict.findings]


async def test_every_level_up_to_the_one_asked_for_has_to_pass(project: Path) -> None:
    verdict = await check(
        project, min_level="L1", L0=PASSING_L0, L1={"run": ["true", "exit 3", "echo no; exit 1"]}
    )

    assert verdict.status == "fail"
    assert verdict.score == 0.5
    assert ids(verdict) == ["L1 exit 3: exit code 3", "L1 echo no; exit 1"]


async def test_a_command_that_is_not_there_could_not_run(project: Path) -> None:
    verdict = await check(project, L0=PASSING_L0, L1={"run": ["no-such-program --all", "exit 1"]})

    assert verdict.status == "error"
    assert ids(verdict)[0] == "L1 no-such-program --all: cannot-run"


async def test_a_command_that_runs_out_of_time_says_what_it_had_seen(project: Path) -> None:
    command = {"run": "echo 'a.py:3: error: waits'; sleep 60", "name": "slow", "timeout": "1s"}

    verdict = await check(project, L0=PASSING_L0, L1={"run": [command]})

    assert ids(verdict) == ["L1 slow: timeout", "L1 slow: a.py: error: waits"]


async def test_a_level_does_not_run_when_one_below_it_failed(project: Path) -> None:
    marker = project / "ran"
    verdict = await check(project, L0={"required": ["LICENSE"]}, L1={"run": [f"touch {marker}"]})

    assert ids(verdict) == ["L0 missing LICENSE"]
    assert verdict.score == 0.0
    assert not marker.exists()


async def test_levels_above_the_one_asked_for_are_only_remarked_on(project: Path) -> None:
    verdict = await check(project, min_level="L0", L0=PASSING_L0, L1={"run": ["exit 1"]})

    assert verdict.status == "pass"
    assert verdict.excerpt.splitlines()[:2] == ["L0 passes", "L1: 1 finding"]


async def test_all_four_levels_can_pass(project: Path) -> None:
    verdict = await check(
        project,
        min_level="L3",
        L0=PASSING_L0,
        L1=PASSING_L1,
        L2={"cases": [{"run": f"{PYTHON} src/app.py", "contains": ["hello"]}]},
        L3={},
    )

    assert (verdict.status, verdict.score) == ("pass", 1.0)


@pytest.mark.parametrize(
    ("contract", "expected"),
    [
        ({"required": ["src/*.py", "docs/**"]}, ["L0 missing docs/**"]),
        ({"forbidden": ["*.py"]}, ["L0 forbidden src/app.py"]),
        ({"forbidden": ["*.rb"]}, []),
        ({"data": [{"file": "package.json", "has": "name"}]}, []),
        ({"data": [{"file": "package.json", "has": "license"}]}, ["L0 no package.json license"]),
        (
            {"data": [{"file": "package.json", "has": "files", "type": "string"}]},
            ["L0 type package.json files"],
        ),
        ({"data": [{"file": "package.json", "has": "files", "type": "array"}]}, []),
        ({"data": [{"file": "package.json", "has": "version", "matches": r"^\d+\.\d+\.\d+$"}]}, []),
        (
            {"data": [{"file": "package.json", "has": "name", "matches": "^@"}]},
            ["L0 value package.json name"],
        ),
        ({"data": [{"file": "README.md", "has": "x"}]}, ["L0 unreadable README.md"]),
        ({"data": [{"file": "none.json", "has": "x"}]}, ["L0 missing none.json"]),
        ({"naming": [{"files": "src/*.py", "style": "snake"}]}, []),
        ({"naming": [{"files": "*.md", "style": "kebab"}]}, ["L0 name README.md"]),
        ({"naming": [{"files": "src/*.py", "matches": "[a-z]{9}"}]}, ["L0 name src/app.py"]),
    ],
)
async def test_contracts(project: Path, contract: dict[str, Any], expected: list[str]) -> None:
    assert ids(await check(project, min_level="L0", L0=contract)) == expected


async def test_a_file_that_git_ignores_is_not_checked(project: Path) -> None:
    (project / ".gitignore").write_text("*.log\n")
    (project / "x.log").write_text("")

    assert (await check(project, min_level="L0", L0={"forbidden": ["*.log"]})).status == "pass"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has file names of arbitrary bytes")
@pytest.mark.parametrize(
    "name",
    [
        b"two\nlines/.env",
        b"latin-\xe9/.env",
        b"-rf/.env",
        b":(exclude)/.env",
        b"'; id '/.env",
        b"\x1b[2J/.env",
    ],
)
async def test_no_name_hides_a_file(project: Path, name: bytes) -> None:
    hidden = project / os.fsdecode(name)
    hidden.parent.mkdir()
    hidden.write_text("")

    verdict = await check(project, min_level="L0", L0={"forbidden": [".env"]})

    assert ids(verdict) == [f"L0 forbidden {name.decode(errors='backslashreplace')}"]
    assert msgspec.json.encode(verdict)


async def test_a_file_among_very_many_is_seen(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The listing is longer than what is kept of a command's output, and has a secret in it."""
    monkeypatch.setenv("SERVICE_TOKEN", "middle-of-all")
    crowd = project.joinpath(*["m" * 250] * 9)
    crowd.mkdir(parents=True)
    for number in range(500):
        (crowd / f"{number:0250}").touch()
    (crowd / f"{249:0230}-middle-of-all.env").touch()

    verdict = await check(project, min_level="L0", L0={"forbidden": ["*.env"]})

    assert [found.endswith("249-middle-of-all.env") for found in ids(verdict)] == [True]


def trapped(place: Path, trap: str) -> None:
    """Put something that can't be read to its end in place of a file."""
    if trap == "pipe":
        os.mkfifo(place)
    elif trap == "device":
        place.symlink_to("/dev/zero")
    elif trap == "nothing":
        place.symlink_to("/dev/null")
    else:
        with place.open("wb") as file:
            file.truncate(LARGEST_DATA + 1)


TRAPS = pytest.mark.parametrize("trap", ["pipe", "device", "nothing", "huge"])
PIPES = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")


@PIPES
@TRAPS
async def test_data_without_end_is_not_waited_for(project: Path, trap: str) -> None:
    (project / "package.json").unlink()
    trapped(project / "src" / "trap", trap)
    (project / "package.json").symlink_to("src/trap")

    verdict = await check(project, min_level="L0", L0={"data": [{"file": "package.json", "has": "name"}]})

    assert ids(verdict) == ["L0 unreadable package.json"]
    assert verdict.findings[0].message.startswith("It can't be read as data: it ")


@PIPES
@TRAPS
async def test_a_file_to_compare_with_that_never_ends_is_not_waited_for(project: Path, trap: str) -> None:
    """It was not there when the run began, so the agent created it."""
    trapped(project / "wanted.txt", trap)
    call = {"name": "it", "run": "true", "equals_file": "wanted.txt"}

    verdict = await check(project, min_level="L2", L0=PASSING_L0, L1=PASSING_L1, L2={"cases": [call]})

    assert ids(verdict) == ["L2 it: equals wanted.txt"]
    assert verdict.findings[0].message.startswith("The file can't be read: it ")


async def test_a_link_does_not_tell_what_is_outside_of_the_workspace(project: Path) -> None:
    (project.parent / "keys.json").write_text('{"name": "top secret"}')
    (project / "package.json").unlink()
    (project / "package.json").symlink_to("../keys.json")
    (project / "schema.json").write_text('{"properties": {"name": {"type": "integer"}}}')

    rule = {"file": "package.json", "json_schema": "schema.json"}
    verdict = await check(project, min_level="L0", L0={"data": [rule]})

    assert ids(verdict) == ["L0 unreadable package.json"]
    assert "top secret" not in str(verdict)


async def test_a_directory_without_git_is_looked_at_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text("")
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "y.log").write_text("")

    assert ids(await check(tmp_path, min_level="L0", L0={"forbidden": ["*.log"]})) == ["L0 forbidden x.log"]


BWRAP = pytest.mark.skipif(
    shutil.which("bwrap") is None, reason="bubblewrap is not installed: make test-sandbox"
)


@BWRAP
async def test_each_program_of_a_level_is_started_inside_of_the_sandbox(project: Path) -> None:
    """Directories for temporary files are empty inside it, except for the workspace."""
    hidden = f"test ! -e {project.parent}/{project.name}-beside"
    (project.parent / f"{project.name}-beside").touch()
    inside = Sandbox(mounts=(Mount(path=project, way="write"),))

    l1, l2 = {"run": [hidden]}, {"cases": [{"run": hidden}]}
    verdict = await check(project, inside, min_level="L2", L0=PASSING_L0, L1=l1, L2=l2)

    assert (ids(verdict), verdict.status) == ([], "pass")


@BWRAP
async def test_a_repository_that_the_agent_made_starts_nothing_outside_of_the_sandbox(project: Path) -> None:
    """Git fetches a missing object with the program that the repository's configuration names."""
    escaped = project.parent / f"{project.name}-escaped"
    planted = f"""
mkdir d; echo '*.x' > d/.gitignore; git add d; git update-index --skip-worktree d/.gitignore
rm -rf d/.gitignore .git/objects/??; touch d/new; touch {escaped}; rm {escaped}
git config core.repositoryformatversion 1; git config extensions.partialClone evil
git config remote.evil.promisor true; git config remote.evil.url ssh://host/there
git config core.sshCommand 'touch ran {escaped}; false'
"""
    called(planted, project)
    inside = Sandbox(mounts=(Mount(path=project, way="write"),))

    verdict = await check(project, inside, min_level="L0", L0={"forbidden": ["new"]})

    assert (project / "ran").exists(), "git did not start the program, so the test proves nothing"
    assert ids(verdict) == ["L0 forbidden d/new"]
    assert not escaped.exists()


async def test_data_has_to_match_its_json_schema(project: Path) -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string"}, "version": {"type": "integer"}}}
    (project / "schema.json").write_text(json.dumps(schema))

    verdict = await check(
        project, min_level="L0", L0={"data": [{"file": "package.json", "json_schema": "schema.json"}]}
    )

    assert len(verdict.findings) == 1
    assert "version" in verdict.findings[0].id


@pytest.mark.parametrize("schema", ['{"$ref": "http://127.0.0.1:PORT/x.json"}', '{"type": 1}', "{"])
async def test_a_schema_that_can_not_be_used_is_red_and_fetches_nothing(project: Path, schema: str) -> None:
    """An agent may write the schema, and the driver would fetch a reference outside any sandbox."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        port = server.getsockname()[1]
        (project / "schema.json").write_text(schema.replace("PORT", str(port)))

        verdict = await check(
            project, min_level="L0", L0={"data": [{"file": "package.json", "json_schema": "schema.json"}]}
        )

        with pytest.raises(BlockingIOError):
            server.accept()
    assert len(verdict.findings) == 1
    assert "the schema can't be used" in verdict.findings[0].message


async def test_json_on_stdout_has_to_match_its_schema(project: Path) -> None:
    (project / "schema.json").write_text('{"properties": {"n": {"type": "integer"}}}')
    calls = [{"name": n, "run": f"echo '{{\"n\": {n}}}'", "json_schema": "schema.json"} for n in ("1", "[]")]

    verdict = await check(project, min_level="L2", L0=PASSING_L0, L1=PASSING_L1, L2={"cases": calls})

    assert [each.startswith("L2 []: ") for each in ids(verdict)] == [True]


async def test_toml_is_data_as_well(project: Path) -> None:
    (project / "a.toml").write_text("[tool]\nname = 'x'\n")
    data = [{"file": "a.toml", "has": "tool.name"}, {"file": "a.toml", "has": "tool.none"}]

    assert ids(await check(project, min_level="L0", L0={"data": data})) == ["L0 no a.toml tool.none"]


async def test_setup_that_fails_is_named_and_the_tests_do_not_run(project: Path) -> None:
    verdict = await check(
        project, L0=PASSING_L0, L1={"setup": ["true", "echo broken; exit 2"], "run": ["touch ran"]}
    )

    assert ids(verdict) == ["L1 setup echo broken; exit 2"]
    assert not (project / "ran").exists()


async def test_a_command_may_expect_another_code_and_has_a_time_limit(project: Path) -> None:
    fine = await check(project, L0=PASSING_L0, L1={"run": [{"run": "exit 4", "expect": 4}]})
    slow = await check(
        project, L0=PASSING_L0, L1={"run": [{"run": "sleep 60", "name": "slow", "timeout": "0.2s"}]}
    )

    assert fine.status == "pass"
    assert ids(slow) == ["L1 slow: timeout"]


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ({"contains": ["hello", "world"]}, []),
        ({"contains": ["bye"]}, ["contains bye"]),
        ({"matches": r"^hello\s\w+$"}, []),
        ({"matches": "^bye"}, ["matches ^bye"]),
        ({"exit_code": 3}, ["exit code"]),
        ({"equals_file": "wanted.txt"}, []),
        ({"equals_file": "README.md"}, ["equals README.md"]),
        ({"equals_file": "nowhere"}, ["equals nowhere"]),
        ({"json": {"a": 1}}, ["json"]),
        ({"files": ["README.md"]}, []),
        ({"files": ["made.txt"]}, ["file made.txt"]),
    ],
)
async def test_black_box_assertions(project: Path, case: dict[str, Any], expected: list[str]) -> None:
    (project / "wanted.txt").write_text("hello world\n")
    call = {"name": "greet", "run": f"{PYTHON} src/app.py", **case}

    verdict = await check(project, min_level="L2", L0=PASSING_L0, L1=PASSING_L1, L2={"cases": [call]})

    assert ids(verdict) == [f"L2 greet: {what}" for what in expected]


@pytest.mark.parametrize(("wanted", "status"), [({"n": [1, 2]}, "pass"), ({"n": [2, 1]}, "fail")])
async def test_json_on_stdout_is_compared_as_a_value(project: Path, wanted: Any, status: str) -> None:
    call = {"run": "cat", "stdin": '{ "n": [1,\n2] }', "json": wanted}

    verdict = await check(project, min_level="L2", L0=PASSING_L0, L1=PASSING_L1, L2={"cases": [call]})

    assert verdict.status == status


@pytest.mark.parametrize(
    ("path", "text", "sanity", "expected"),
    [
        ("src/a.py", "x = 1\nbreakpoint()\n", {}, ["L3 debug src/a.py: breakpoint()"]),
        ("src/a.js", "console.log(1)", {}, ["L3 debug src/a.js: console.log("]),
        ("src/a.js", "console.log(1)", {"debug": "warn"}, []),
        ("src/a.js", "console.log(1)", {"debug": "off"}, []),
        ("a.py.orig", "", {}, ["L3 stray a.py.orig"]),
        ("big.bin", "x" * 2_000, {"largest": "1k"}, ["L3 oversize big.bin"]),
        ("big.bin", "x" * 2_000, {"largest": 3_000}, []),
        ("src/b.py", "", {"missing_tests": "fail", "tests": {"src/*.py": "tests/test_{stem}.py"}},
         ["L3 no test for src/app.py", "L3 no test for src/b.py"]),
        ("src/b.py", "", {"tests": {"src/*.py": "tests/test_{stem}.py"}}, []),
    ],
)  # fmt: skip
async def test_sanity(
    project: Path, path: str, text: str, sanity: dict[str, Any], expected: list[str]
) -> None:
    (project / path).write_text(text)

    verdict = await check(
        project, min_level="L3", L0=PASSING_L0, L1=PASSING_L1, L2={"cases": [{"run": "true"}]}, L3=sanity
    )

    assert ids(verdict) == expected


@pytest.mark.parametrize(
    "options",
    [
        {"min_level": "L2", "L0": PASSING_L0, "L1": PASSING_L1},
        {"min_level": "L9", "L0": PASSING_L0},
        {"min_level": "L0"},
        {"min_level": "L0", "L0": {}},
        {"min_level": "L0", "L0": {"require": ["x"]}},
        {"min_level": "L0", "L0": {"required": "x"}},
        {"min_level": "L0", "L0": {"data": [{"file": "x"}]}},
        {"min_level": "L0", "L0": {"data": [{"file": "x", "type": "string"}]}},
        {"min_level": "L0", "L0": {"data": [{"file": "x", "has": "y", "matches": "("}]}},
        {"min_level": "L0", "L0": {"naming": [{"files": "*.py"}]}},
        {"L0": PASSING_L0, "L1": {}},
        {"L0": PASSING_L0, "L1": {"run": []}},
        {"L0": PASSING_L0, "L1": {"run": [{"run": " "}]}},
        {"L0": PASSING_L0, "L1": {"run": [{"run": "x", "timeout": "soon"}]}},
        {"min_level": "L2", "L0": PASSING_L0, "L1": PASSING_L1, "L2": {"cases": []}},
        {
            "min_level": "L2",
            "L0": PASSING_L0,
            "L1": PASSING_L1,
            "L2": {"cases": [{"run": "x", "matches": "["}]},
        },
        {"min_level": "L0", "L0": PASSING_L0, "L3": {"debug": "maybe"}},
        {"min_level": "L0", "L0": PASSING_L0, "L3": {"debug_patterns": ["("]}},
        {"min_level": "L0", "L0": PASSING_L0, "L3": {"largest": "huge"}},
    ],
)
def test_a_malformed_table_is_an_error_and_never_a_pass(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        registry.create("gate", "levels", options)
