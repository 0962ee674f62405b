"""GitHub Actions: folds, annotations and a summary; and no text of a model ever becomes a command."""

import re
import sys
from pathlib import Path

import pytest

from tests.core.helpers import Run, Turn, gate
from untilgreen.core.loop.fold import apply
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import Finding, Reply, Verdict
from untilgreen.surfaces.live.github_actions import Actions
from untilgreen.surfaces.live.views import Lines
from untilgreen.surfaces.text.streams import no_commands

EVIL = "::add-path::/evil\n::set-env name=PATH::x\n##[set-output name=x]y"


def commands_in(text: str) -> list[str]:
    """The lines that a runner takes for commands; it takes none between `::stop-commands::X` and `::X::`."""
    word, commands = "", []
    for line in text.split("\n"):
        if word:
            word = "" if line.strip() == f"::{word}::" else word
        elif found := re.match(r"\s*::stop-commands::(\S+)$", line):
            word = found[1]
        elif line.strip().startswith("::") or "##[" in line:
            commands.append(line)
    assert not word, "commands are enabled again at the end"
    return commands


def played() -> Run:
    """A run that a limit ends after one lap, with hostile text in every field."""
    finding = Finding(id=f"E1 {EVIL}", message="100% wrong: a, b", file="src/a,b.py", line=7)
    run = Run(gate("tests"), gate("hints", required=False), task=EVIL, limits=Limits(iterations=1))
    red = Verdict(status="fail", findings=(finding,), excerpt=EVIL)
    bare = Verdict(status="fail", excerpt=EVIL)
    run.lap(Turn(reply=Reply(error="crash", detail=EVIL)), tests=red, hints=bare)
    run.end()
    return run


def shown(run: Run, summary: Path | None, capsys: pytest.CaptureFixture[str]) -> str:
    state = None
    with Actions(Lines(), summary) as view:
        for event in run.events:
            state = apply(state, event)
            view.on_event(event, state)
    return capsys.readouterr().err


def test_a_lap_is_a_fold_and_what_is_red_an_annotation(capsys: pytest.CaptureFixture[str]) -> None:
    said = commands_in(shown(played(), None, capsys))

    assert said[:2] == ["::group::lap 1", "::endgroup::"]
    error, warning = said[2:]
    assert error.startswith("::error file=src/a%2Cb.py,line=7,title=tests::E1 ::add-path::/evil ")
    assert error.endswith(": 100%25 wrong: a, b")
    assert warning.startswith("::warning title=hints::fail: ::add-path::/evil ")


def test_every_stop_word_is_different_so_that_nobody_can_guess_it(capsys: pytest.CaptureFixture[str]) -> None:
    words = re.findall(r"::stop-commands::(\S+)", shown(played(), None, capsys))

    assert len(words) > 3
    assert len(set(words)) == len(words)


def test_the_summary_is_markdown_behind_what_is_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "summary.md"
    file.write_text("# Before\n")

    shown(played(), file, capsys)

    text = file.read_text()
    assert text.startswith("# Before\n# `::add-path::/evil")
    assert "**exhausted**" in text
    assert "| `tests` | ✕1 |" in text


def test_a_summary_that_can_not_be_written_is_no_reason_to_fail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "::endgroup::" in shown(played(), tmp_path / "no" / "such" / "folder", capsys)


def test_output_of_tools_is_not_a_command_either(capsys: pytest.CaptureFixture[str]) -> None:
    with no_commands({"GITHUB_ACTIONS": "true"}):
        sys.stdout.write(f"    {EVIL}\n")
    with no_commands({}):
        sys.stdout.write("plain\n")

    text = capsys.readouterr().out
    assert commands_in(text) == []
    assert text.endswith("::\nplain\n")
