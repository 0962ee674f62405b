"""command: a shell command gets the message as JSON and in variables, and runs none of it."""

import json
import os
from pathlib import Path
from typing import Literal

import pytest
from msgspec.structs import replace

from untilgreen.core.values.events import Event
from untilgreen.core.values.model import SandboxSpec
from untilgreen.core.values.state import RunState
from untilgreen.errors import ConfigError, UntilgreenError
from untilgreen.notify.command import CommandNotifier

Ended = tuple[Event, RunState]


async def test_the_command_gets_json_and_variables_and_runs_none_of_it(
    ended: Ended, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    line = 'cat > news.json; printf "%s" "$UNTILGREEN_NEWS_KIND $UNTILGREEN_NEWS_RUN" > short'
    await CommandNotifier(command=line).notify(*ended)

    told = json.loads((tmp_path / "news.json").read_text())
    assert (told["news"], told["outcome"]) == ("finished", "converged")
    assert "$(touch owned)" in told["text"]
    assert (tmp_path / "short").read_text() == "finished r1"
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize("mode", ["bwrap", "none"])
async def test_a_program_of_a_workspace_in_a_sandbox_is_not_the_users(
    ended: Ended, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: Literal["bwrap", "none"]
) -> None:
    tell = tmp_path / "project" / "bin" / "tell"
    tell.parent.mkdir(parents=True)
    tell.write_text("#!/bin/sh\necho planted\n")
    tell.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tell.parent}:{os.environ['PATH']}")
    event, state = ended
    plan = replace(state.plan, sandbox=SandboxSpec(mode=mode), workspace={"start": str(tmp_path / "project")})

    line = f"tell > {tmp_path}/told || true"
    await CommandNotifier(command=line).notify(event, replace(state, plan=plan))

    assert (tmp_path / "told").read_text() == ("" if mode == "bwrap" else "planted\n")


async def test_a_command_that_fails_or_hangs_is_reported(ended: Ended) -> None:
    with pytest.raises(UntilgreenError, match=r"failed \(exit code 3\): no bus"):
        await CommandNotifier(command="echo no bus >&2; exit 3").notify(*ended)
    with pytest.raises(UntilgreenError, match=r"took longer than 0\.2s and was stopped"):
        await CommandNotifier(command="sleep 60", timeout="0.2s").notify(*ended)


async def test_news_that_is_not_wanted_starts_nothing(ended: Ended, tmp_path: Path) -> None:
    await CommandNotifier(command=f"touch {tmp_path}/ran", on=["stuck"]).notify(*ended)

    assert not (tmp_path / "ran").exists()


def test_unknown_news_and_an_empty_command_are_errors() -> None:
    with pytest.raises(ConfigError, match="Did you mean 'finished'"):
        CommandNotifier(command="true", on=["finish"])
    with pytest.raises(ConfigError, match="is empty"):
        CommandNotifier(command=" ")
