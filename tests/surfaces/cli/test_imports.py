"""A verb loads what it uses, so that what people type while they wait answers at once."""

import subprocess
import sys

import pytest

DRIVING = ("untilgreen.engine.loop.runner", "untilgreen.gates", "untilgreen.agents", "untilgreen.process.run")
HEAVY = ("psutil", "tomlkit", "junitparser", "importlib.metadata", "subprocess")


@pytest.mark.parametrize(
    ("verb", "absent"),
    [
        ("list", (*DRIVING, *HEAVY, "asyncio", "untilgreen.workspace.git")),
        ("show", (*DRIVING, *HEAVY, "untilgreen.workspace.git")),
        ("control", (*DRIVING, *HEAVY, "untilgreen.workspace.git")),
        (
            "run",
            ("psutil", "junitparser", "untilgreen.gates.output.parsers.pytest", "untilgreen.surfaces.web"),
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
