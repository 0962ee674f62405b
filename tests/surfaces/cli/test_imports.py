"""A verb loads only what it uses, so that commands that people wait for answer at once."""

import subprocess
import sys

import pytest

from tests.surfaces.cli.helpers import NO_OP, Cli

DRIVING = ("untilgreen.engine.loop.runner", "untilgreen.gates", "untilgreen.agents", "untilgreen.process.run")
HEAVY = ("psutil", "tomlkit", "junitparser", "importlib.metadata", "subprocess")
SELDOM = ("json", "tomllib", "untilgreen.surfaces.json.lines")
"""Modules that are loaded only to read a spec file or to write JSON."""


@pytest.mark.parametrize(
    ("verb", "absent"),
    [
        ("list", ("shutil", *DRIVING, *HEAVY, "asyncio", "untilgreen.workspace.git")),
        ("show", (*DRIVING, *HEAVY, "untilgreen.workspace.git")),
        ("control", ("shutil", *DRIVING, *HEAVY, "untilgreen.workspace.git")),
        (
            "run",
            (
                *("psutil", "junitparser", "tomlkit", "configparser", "difflib"),
                *("untilgreen.gates.output.parsers.pytest", "untilgreen.surfaces.web"),
                *("untilgreen.gates.integrity.tampering", "untilgreen.gates.integrity.canary"),
                *("untilgreen.gates.integrity.comparison", "untilgreen.workspace.three_way_merge"),
                *("untilgreen.engine.operations.prune", "untilgreen.surfaces.cli.verbs.detach", *SELDOM),
            ),
        ),
    ],
)
def test_a_verb_does_not_import_what_it_does_not_use(verb: str, absent: tuple[str, ...]) -> None:
    imports = f"import untilgreen.surfaces.cli.main, untilgreen.surfaces.cli.verbs.{verb}, sys"
    script = f"{imports}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()

    assert f"untilgreen.surfaces.cli.verbs.{verb}" in loaded
    assert [name for name in loaded if name.startswith(absent)] == []


def test_a_hook_that_judges_loads_no_rooms_before_its_gates_are_green() -> None:
    script = "import untilgreen.surfaces.hook.continuing, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()

    absent = ("untilgreen.gates.integrity.trial_rooms", "untilgreen.gates.integrity.protected", *SELDOM)
    assert "untilgreen.gates.integrity.gate" in loaded
    assert [name for name in loaded if name.startswith(absent)] == []


@pytest.mark.parametrize("verb", ["steer", "pause", "show", "list"])
def test_what_people_type_about_a_run_that_waits_starts_no_event_loop(cli: Cli, verb: str) -> None:
    asks = "--set=gates.people={kind='approval', people=['ann'], stage=1}"
    run = cli("run", "Do it.", "-a", cli.agent(NO_OP), "-g", "true", asks, "--no-input")
    words = [verb, "@last", "be quick"] if verb == "steer" else [verb]
    load = "import sys; from untilgreen.surfaces.cli.main import call"
    script = f"{load}; print(call({words})); print(*sys.modules)"

    done = subprocess.run(
        [sys.executable, "-c", script], cwd=cli.place, env=cli.env, capture_output=True, text=True, check=True
    )

    assert run.code == 5
    code, loaded = done.stdout.splitlines()[-2:]
    assert code == "0", done.stderr
    assert "asyncio" not in loaded.split()
