"""ACP, MCP and traces cost nothing unless they are used."""

import os
import subprocess
import sys
from pathlib import Path

from tests.surfaces.cli.helpers import repository

OWN = {"acp", "mcp", "export"}
PROTOCOLS = (
    *("mcp", "mcp_types", "opentelemetry", "acp"),
    *("untilgreen.surfaces.acp", "untilgreen.surfaces.mcp", "untilgreen.agents.acp"),
    *("untilgreen.notify.traces", "untilgreen.notify.span_sender"),
)


def test_no_other_verb_imports_them() -> None:
    code = f"""
import importlib, sys
from untilgreen.surfaces.cli.main import VERBS, _HERE
for verb, place in VERBS.items():
    if verb not in {OWN!r}:
        importlib.import_module(_HERE + "." + place.partition(":")[0])
print([name for name in {PROTOCOLS!r} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_a_run_without_them_imports_none(tmp_path: Path) -> None:
    words = ["run", "x", "--agent", "cmd:sh -c 'echo x > n'", "--gate", "test -s n", "--no-input"]
    done = subprocess.run(
        [
            sys.executable,
            "-X",
            "importtime",
            "-m",
            "untilgreen",
            *words,
            "--state-dir",
            str(tmp_path / "state"),
        ],
        cwd=repository(tmp_path / "project", {"n": ""}),
        env={name: value for name, value in os.environ.items() if name != "UNTILGREEN_INSIDE"},
        capture_output=True,
        text=True,
        check=True,
    )

    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "untilgreen.engine.loop.runner" in imported
    assert imported & set(PROTOCOLS) == set()
