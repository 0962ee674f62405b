"""Captures what test runners print: `python -m tests.gates.output.capture FOLDER`, with the tools on PATH.

`runners/` has one small project for each runner, with a test that fails, and the styles that people use. To
capture only some, name runners or captures after the folder. The outputs are in `captured/`;
`test_captured.py` says what must be found in each, and in which styles each runner was captured.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.gates.output.runners import (
    compiled,
    dotnet,
    javascript,
    javascript_others,
    platforms,
    python,
    scripting,
)
from tests.gates.output.runners.styles import Projects

HERE = Path(__file__).parent / "captured"
HOME = "/home/kim/shop"
"""Replaces the directory that they were captured in."""
MAVEN_REPO = "/usr/share/maven-repo"
"""Where Debian's packages put what Maven needs; the variable `MAVEN_REPO` names another directory."""

PROJECTS: Projects = {
    **python.PROJECTS,
    **javascript.PROJECTS,
    **javascript_others.PROJECTS,
    **compiled.PROJECTS,
    **platforms.PROJECTS,
    **dotnet.PROJECTS,
    **scripting.PROJECTS,
}


def portable(text: str) -> str:
    """The text without this machine's paths and name."""
    text = text.replace(sys.prefix, "/home/kim/venv").replace(sys.base_prefix, "/usr")
    text = text.replace(os.environ.get("MAVEN_REPO") or MAVEN_REPO, MAVEN_REPO)
    text = re.sub(rf'(?<=value="){re.escape(str(Path.home()))}(?=")', "/home/kim", text)
    text = re.sub(r'(?<=hostname=")[^"]{1,100}', "kim", text)
    return re.sub(r"(?<![\w.-])/[\w./-]{1,200}?/node_modules/", "/home/kim/tools/node_modules/", text)


def main(folder: Path, names: list[str]) -> None:
    """Capture the outputs of all runners, or only of these."""
    HERE.mkdir(exist_ok=True)
    for tool, (files, commands) in PROJECTS.items():
        wanted = {style: run for style, run in commands.items() if _wanted(f"{tool}-{style}", tool, names)}
        if not wanted:
            continue
        place = folder / tool
        for name, text in files.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text)
        for style, command in wanted.items():
            env = {**os.environ, "CI": "", "NO_COLOR": "", "LC_ALL": "C.UTF-8"}
            env = {key: value for key, value in env.items() if value}
            done = subprocess.run(
                ["/bin/sh", "-c", f"{{ {command}; }} 2>&1"],
                cwd=place,
                env=env,
                capture_output=True,
                check=False,
            )
            text = portable(done.stdout.decode(errors="replace").replace(str(place), HOME))
            (HERE / f"{tool}-{style}.txt").write_text(text)
            sys.stderr.write(f"{tool}-{style}: exit {done.returncode}, {len(text)} characters\n")


def _wanted(capture: str, tool: str, names: list[str]) -> bool:
    return not names or tool in names or capture in names


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2:])
