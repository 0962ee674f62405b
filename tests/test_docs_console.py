"""Every command that docs show at a prompt is run, in order, and prints what the page shows."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.surfaces.cli.helpers import (
    CALC_TESTS,
    PATIENCE_SECONDS,
    RED_CALC,
    Terminal,
    repository,
    script,
)
from tests.test_docs import FENCE, PAGES, ROOT, blocks

STAND_IN = Path(__file__).parent / "fake_clis" / "standin.py"
FINISH, SPOIL = "touch done\n", "rm -f done"
RED_WITHOUT_DONE = "import os\n\n\ndef test_done():\n    assert os.path.exists('done')\n"
SPEC = "task = 'Do it.'\nagent = 'cmd:true'\ngates.there.run = 'test -e done'\n"
SESSION = "0bd2e4a1-5c1f-4c6e-9d3b-2f1f6f0c9a11"
RUN_ID = re.compile(r"\b(?=[a-z]*\d)[0-9a-z]{9}\b")


@dataclass(frozen=True, kw_only=True)
class Stage:
    """The project in which a page's commands are run."""

    files: Mapping[str, str] = field(default_factory=dict)
    work: str = FINISH
    """The shell script that an agent runs in a turn."""
    setup: str = ""
    """A shell script to run before the first command."""
    before: Mapping[str, str] = field(default_factory=dict)
    """Shell scripts to run before commands, by the beginning of the command."""
    typed: Mapping[str, str] = field(default_factory=dict)
    """What a person types at a command's prompt; such a command is run on a terminal."""
    says: Mapping[str, str] = field(default_factory=dict)
    """What a command has to print in addition to what the page shows."""
    after: str = ""


PAGE_SPEC = next(text for name, text in blocks("toml") if "strategies" in name)
RALPH = next(text for name, text in blocks("text") if "in-session" in name).strip()
CART_TESTS = """\
import unittest


class CartTest(unittest.TestCase):
    def test_total(self):
        self.fail("3 != 4")
"""
FOURTH_LAP = (
    f"printf %s {shlex.quote(CALC_TESTS)} > test_calc.py; echo >> $0.laps; date +%N >> notes\n"
    "if test $(wc -l < $0.laps) -gt 3; then sed -i.old 's/a - b/a + b/' calc.py; rm calc.py.old; fi\n"
)
"""Fixes `calc.py` in its fourth turn and in every later one."""

STAGES = {
    "coming-from": Stage(
        files={"PROMPT.md": "Make the file.\n", "Makefile": "test:\n\ttest -e done\n"},
        says={"untilgreen run": "converged: all required gates pass in lap 1"},
    ),
    "in-session": Stage(
        files={"src/a.py": "x: int = ''\n"},
        work="echo 'x: int = 1' > src/a.py\n",
        before={"untilgreen session list": "untilgreen hook prompt --agent claude < {payload}"},
        typed={"untilgreen install claude": "y\n"},
        says={
            "untilgreen install claude --dry-run": "settings.json",
            "untilgreen session list": "Fix all type errors in src/",
            "untilgreen session state": '"completion_promise":"ALL_FIXED"',
            "untilgreen resume": "converged: all required gates pass in lap",
        },
    ),
    "overnight": Stage(
        files={"test_it.py": RED_WITHOUT_DONE},
        after="untilgreen follow --plain",
    ),
    "results": Stage(
        files={"test_cart.py": CART_TESTS},
        setup="untilgreen run 'Mend the cart.' -a \"cmd:sh -c 'date +%N >> notes'\" "
        "-g 'tests=python -m unittest -q' || test $? = 1",
    ),
    "strategies": Stage(
        files={"test_it.py": RED_WITHOUT_DONE, "untilgreen.toml": PAGE_SPEC},
        setup="ln -s ../bin/my-agent my-agent.sh; untilgreen trust --yes",
        before={"untilgreen run": SPOIL},
        says={"untilgreen run": "converged: all required gates pass in lap 1"},
    ),
    "trust": Stage(
        files={"untilgreen.toml": SPEC},
        typed={"untilgreen trust": "y\n"},
        says={
            "untilgreen trust --revoke": "is no longer trusted",
            "untilgreen trust --list": "untilgreen.toml",
            "untilgreen trust": "is trusted.",
        },
    ),
    "workspaces": Stage(
        files={"calc.py": RED_CALC},
        work=FOURTH_LAP,
        setup="untilgreen run 'Mend it.' --worktree -a claude -g 'tests=python -m unittest -q'",
        says={
            "untilgreen apply --dry-run": "M calc.py",
            "untilgreen fork": "converged: all required gates pass in lap",
            "untilgreen prune --keep 30d": "No run is old enough to be removed.",
        },
    ),
}

ELSEWHERE = {"fleet": "tests/fleet/test_page.py"}
"""Pages whose commands need servers, and the tests that run them."""


@dataclass(frozen=True)
class Shown:
    """A command on a page, and the output that the page shows below it."""

    command: str
    lines: list[str]


def shown(page: str) -> list[Shown]:
    """Every command at a prompt, in the order of the page."""
    found: list[Shown] = []
    for match in FENCE.finditer((ROOT / "docs" / f"{page}.md").read_text()):
        for line in match[2].splitlines() if match[1] == "console" else ():
            if line.startswith("$ "):
                found.append(Shown(line.removeprefix("$ ").partition("  #")[0].strip(), []))
            elif line.strip():
                found[-1].lines.append(line)
    return found


WITH_PROMPTS = [
    str(page.relative_to(ROOT / "docs").with_suffix(""))
    for page in PAGES
    if page.is_relative_to(ROOT / "docs") and re.search(r"^\$ ", page.read_text(), re.MULTILINE)
]


def test_every_page_with_commands_has_its_stage() -> None:
    assert sorted((*STAGES, *ELSEWHERE)) == sorted(WITH_PROMPTS)
    for page, tests in ELSEWHERE.items():
        assert f'shown("{page}")' in (ROOT / tests).read_text()


@pytest.mark.parametrize("page", STAGES)
def test_the_commands_of_a_page_do_what_it_says(page: str, tmp_path: Path) -> None:
    stage, place = STAGES[page], repository(tmp_path / "project", STAGES[page].files)
    env = environment(tmp_path, stage.work)
    sh(stage.setup, place, env)
    for each in shown(page):
        sh(_for(each.command, stage.before), place, env)
        seen = _seen(each.command, stage, place, env)
        missing = [line for line in each.lines if alike(line) not in alike(seen)]
        assert missing == [], f"{each.command}\n{seen}"
        assert _for(each.command, stage.says) in seen, f"{each.command}\n{seen}"
    sh(stage.after, place, env)


def _seen(command: str, stage: Stage, place: Path, env: dict[str, str]) -> str:
    """The output of a command as a person sees it; a command that fails fails the test."""
    if command not in stage.typed:
        newest = max((path.name for path in (place.parent / "state" / "runs").glob("*")), default="")
        return sh(re.sub(r"\bRUN\b", newest, command), place, env)
    terminal = Terminal(tuple(shlex.split(command)[1:]), place, env)
    terminal.type(stage.typed[command])
    code, text = terminal.end()
    assert code == 0, text
    return text


def sh(command: str, place: Path, env: dict[str, str]) -> str:
    """Run a shell command and return its output; a command that fails fails the test."""
    done = subprocess.run(
        ["/bin/sh", "-eu", "-c", command.replace("{payload}", str(_payload(place)))],
        cwd=place,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=PATIENCE_SECONDS,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    return done.stdout


def environment(folder: Path, work: str) -> dict[str, str]:
    """The environment of a user whose agents are stand-ins, with this interpreter's tools on the PATH."""
    stand_ins, home = folder / "bin", folder / "home"
    stand_ins.mkdir()
    home.mkdir()
    (stand_ins / "work.sh").write_text(work)
    for name in ("claude", "codex", "my-agent"):
        called = shlex.join([sys.executable, str(STAND_IN), str(stand_ins), name])
        login = 'case "$1" in auth|login) exit 0;; esac'  # the check for a login, which is not a turn
        script(stand_ins / name, f'{login}\nexec {called} "$@"\n')
    return {
        "PATH": os.pathsep.join((str(stand_ins), str(Path(sys.executable).parent), os.environ["PATH"])),
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "UNTILGREEN_STATE_DIR": str(folder / "state"),
    }


def _payload(place: Path) -> Path:
    """The payload that Claude Code sends to its hook when a person types the page's `/ralph`."""
    path = place.parent / "payload.json"
    told = {"session_id": SESSION, "cwd": str(place), "hook_event_name": "UserPromptSubmit", "prompt": RALPH}
    path.write_text(json.dumps(told))
    return path


def _for(command: str, told: Mapping[str, str]) -> str:
    """The entry with the longest key that the command starts with."""
    return told[max(keys, key=len)] if (keys := [key for key in told if command.startswith(key)]) else ""


def alike(text: str) -> str:
    """The text with run ids and process ids replaced, so that it is the same for every run."""
    return re.sub(r"process \d+", "process N", RUN_ID.sub("RUN", text))
