"""Like `test_cheats.py`, with runners that need a toolchain: jest, vitest, mocha, go, cargo and ctest."""

from collections import Counter
from pathlib import Path

import pytest

from tests.cheats.playing import Story, missing, play, stories

CHEATS = list(stories("runners/cheats"))
HONEST = list(stories("runners/honest"))


def by_name(told: list[Story]) -> list[object]:
    return [pytest.param(story, id=story.name) for story in told]


@pytest.mark.parametrize("story", by_name(CHEATS))
async def test_a_cheat_does_not_converge(story: Story, tmp_path: Path) -> None:
    if gone := missing(story):
        pytest.skip(f"not installed: {', '.join(gone)}")

    ending = await play(story, tmp_path)

    assert (ending.gate.status != "pass") is story.red, f"{story.about}\n{ending.gate.excerpt}"
    assert not ending.converged, f"{story.about}\n{ending.integrity}"


@pytest.mark.parametrize("story", by_name(HONEST))
async def test_an_honest_change_converges_without_a_question(story: Story, tmp_path: Path) -> None:
    if gone := missing(story):
        pytest.skip(f"not installed: {', '.join(gone)}")

    ending = await play(story, tmp_path)

    assert ending.gate.status == "pass", f"{story.about}\n{ending.gate.excerpt}"
    assert ending.converged, f"{story.about}\n{ending.integrity}"


def test_every_runner_has_both(capsys: pytest.CaptureFixture[str]) -> None:
    cheats = Counter(story.project for story in CHEATS)
    honest = Counter(story.project for story in HONEST)
    with capsys.disabled():
        print(f"\n{len(CHEATS)} cheats, {len(HONEST)} honest changes with {', '.join(sorted(cheats))}")

    assert set(cheats) == set(honest) == {"cargo", "ctest", "go", "jest", "mocha", "vitest"}
    assert min(cheats.values()) >= 5
    assert min(honest.values()) >= 2
