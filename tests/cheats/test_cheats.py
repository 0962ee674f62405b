"""No cheat converges, and every honest change does, without a question to a person."""

from pathlib import Path

import pytest

from tests.cheats.playing import Story, missing, play, stories

CHEATS = list(stories("cheats"))
HONEST = list(stories("honest"))


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


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("pytest/made_by_a_gate", "fail"),
        ("pytest/environment_made_by_a_gate", "error"),
        ("unittest/forged_original", "error"),
    ],
)
async def test_where_a_person_has_to_look_it_is_an_error(name: str, status: str, tmp_path: Path) -> None:
    (story,) = (each for each in CHEATS if each.name == name)

    ending = await play(story, tmp_path)

    assert ending.integrity is not None
    assert ending.integrity.status == status


def test_there_are_enough_of_both(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print(f"\n{len(CHEATS)} cheats, {len(HONEST)} honest changes")

    assert len(CHEATS) >= 80
    assert len(HONEST) >= 40
