"""desktop: the system's own program gets the message as arguments, never as code."""

from pathlib import Path

import pytest

from tests.surfaces.cli.helpers import script
from untilgreen.core.values.events import Event
from untilgreen.core.values.state import RunState
from untilgreen.errors import ConfigError, UntilgreenError
from untilgreen.notify.desktop import Desktop, command
from untilgreen.notify.messages import News

TOLD = News(
    news="stuck",
    run="r1",
    task="t",
    text='t: stuck: "quoted" $(touch owned)',
    outcome="stuck",
    command="untilgreen why r1",
)


async def test_on_linux_notify_send_shows_outcome_reason_and_command(
    ended: tuple[Event, RunState], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path / "notify-send", f'printf "%s\\n" "$@" > {tmp_path}/shown\n')
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    await Desktop().notify(*ended)

    shown = (tmp_path / "shown").read_text()
    assert "untilgreen: converged\n" in shown
    assert "all required gates pass" in shown
    assert shown.endswith("untilgreen show r1\n")


def test_on_macos_the_text_is_an_argument_of_the_script(tmp_path: Path) -> None:
    script(tmp_path / "osascript", "true\n")

    argv = command(TOLD, str(tmp_path), platform="darwin")

    assert argv[-2:] == ["untilgreen: stuck", f"{TOLD.text}\nuntilgreen why r1"]
    assert TOLD.text not in argv[2]


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(UntilgreenError, match="there is no notify-send; install it"):
        command(TOLD, str(tmp_path), platform="linux")
    with pytest.raises(ConfigError, match="Did you mean 'stuck'"):
        Desktop(on=["stuk"])
