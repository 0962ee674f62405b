"""Everything on docs/extend/agent.md works, from its first file to its last command."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "extend" / "agent.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")


def blocks(language: str) -> list[str]:
    return [match[2] for match in BLOCK.finditer(PAGE.read_text()) if match[1] == language]


def follow(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    for code in blocks("python"):
        if named := re.match(r"# (\w+\.py)\n", code):
            (folder / named[1]).write_text(code)
    env = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "UNTILGREEN_STATE_DIR": str(folder.parent / "state"),
    }
    return subprocess.run(
        ["/bin/sh", "-eu", "-c", script], cwd=folder, env=env, capture_output=True, text=True, check=False
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def test_the_adapter_of_the_page_converges(project: Path) -> None:
    (script,) = blocks("sh")

    ran = follow(project, script)

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "converged: all required gates pass in lap 1" in ran.stdout
    assert "132 tokens" in ran.stderr
    (transcript,) = (project.parent / "state").rglob("activity/001.jsonl")
    assert '"dreamt"' in transcript.read_text()


def test_its_failures_have_causes(project: Path) -> None:
    (script,) = blocks("sh")
    failing = script.replace(
        '{"kind": "said", "text": "It is there."}', '{"kind": "failed", "status": 401, "why": "no"}'
    )

    ran = follow(project, failing.replace("echo 42 > answer.txt\n", ""))

    assert ran.returncode == 4, ran.stdout + ran.stderr
    assert "Run `toad login`." in ran.stdout + ran.stderr


def test_the_plain_adapter_of_the_page_converges(project: Path) -> None:
    script = "printf '#!/bin/sh\\necho 42 > answer.txt\\n' > plain.sh; chmod +x plain.sh\n"
    script += 'untilgreen run "x" --agent ./plain.py:Plain --gate "grep -qx 42 answer.txt" --no-input\n'

    ran = follow(project, script)

    assert ran.returncode == 0, ran.stdout + ran.stderr
