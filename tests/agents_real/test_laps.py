"""With each real agent: a wrong lap, a red gate, a right lap, and what the journal knows about it."""

from pathlib import Path

import pytest

from tests.agents_real.bench import RIGHT, TWO_LAPS, WRONG, Bench, of
from tests.agents_real.clis import PINS
from untilgreen.core.events import TurnEnded
from untilgreen.core.model import Outcome


@pytest.mark.parametrize("session", ["fresh", "continue"])
def test_a_wrong_lap_is_followed_by_a_right_one(bench: Bench, session: str) -> None:
    with bench.model(TWO_LAPS) as model:
        state, events = bench.run(session=session)

    assert (state.outcome, len(state.iterations)) == (Outcome.CONVERGED, 2), state.reason
    assert (bench.project / "answer.txt").read_text() == "42\n"
    first, second = (turn.reply for turn in of(TurnEnded, events))
    assert (first.text, second.text) == ("I wrote it.", "Now it is right.")
    assert first.session
    assert second.session
    assert first.usage.tokens > 0
    assert 0 < second.usage.tokens < first.usage.tokens * 2
    begins = [asked for asked in model.requests if asked.tools and "This is lap" in asked.last_user]
    lengths = [len(asked.messages) for asked in begins if asked.messages[-1][0] == "user"]
    if session == "fresh":
        assert first.session != second.session
        assert lengths[0] == lengths[-1]
    else:
        assert first.session == second.session
        assert lengths[0] < lengths[-1]


def test_what_it_does_is_in_the_transcript_and_shown(bench: Bench) -> None:
    with bench.model(TWO_LAPS):
        code, said = bench.cli(*bench.asked("--verbose"))

    assert code == 0, said
    assert "Now it is right." in said
    assert "answer.txt" in said
    transcripts = list(bench.state.rglob("activity/*.jsonl"))
    assert len(transcripts) == 2
    assert all(
        "I wrote it." in each.read_text() or "Now it is right." in each.read_text() for each in transcripts
    )


def test_a_promise_with_red_gates_is_rejected(bench: Bench) -> None:
    done = {"text": "It is done.\n<promise>DONE</promise>"}
    with bench.model([WRONG, done, RIGHT, done]) as model:
        state, events = bench.run(promise="DONE")

    assert (state.outcome, len(state.iterations)) == (Outcome.CONVERGED, 2), state.reason
    assert [turn.claim for turn in of(TurnEnded, events)] == [True, True]
    assert any("Your claim was rejected" in asked.last_user for asked in model.requests)


def test_its_version_is_known_and_it_has_every_flag_that_we_use(
    bench: Bench, agent: str, tmp_path: Path
) -> None:
    import anyio

    from untilgreen.agents.look import look
    from untilgreen.plugins import registry

    with bench.model([{"text": "hello"}]):
        seen = anyio.run(look, registry.create("agent", agent, {}).object, tmp_path)

    assert seen is not None
    assert (seen.version, seen.lacks, seen.trouble) == (PINS[agent].version, (), "")
