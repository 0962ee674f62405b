"""Provider errors inside a session pause its loop, and never end it within seconds."""

import time

import pytest

from tests.surfaces.hook.helpers import Session
from untilgreen.surfaces.hook.continuing import RECOVERY_SECONDS


def failed(session: Session, **data: object) -> dict[str, object]:
    return {
        "sessionID": session.id,
        "cwd": str(session.place),
        "error": {"name": "APIError", "data": {"message": "it did not work", **data}},
    }


@pytest.fixture
def opencode(session: Session) -> Session:
    session.agent = "opencode"
    session.start("make it ok", "--gate", "test -f ok")
    return session


def test_a_rate_limit_pauses_the_loop_until_the_provider_says(opencode: Session) -> None:
    answer = opencode.hook("error", failed(opencode, statusCode=429, responseHeaders={"retry-after": "40"}))

    assert answer.said["brief"] == ""
    assert "is paused: rate_limited" in answer.said["toast"]
    assert "Continue in 40s with: /untilgreen go" in answer.said["toast"]
    assert 30 < answer.said["again"] <= 40
    assert opencode.laps() == 0
    assert [event.cause for event in opencode.events("Paused")] == ["rate_limited"]


def test_while_a_loop_is_paused_by_its_provider_an_idle_session_is_sent_nothing(opencode: Session) -> None:
    opencode.hook("error", failed(opencode, statusCode=429, responseHeaders={"retry-after": "40"}))
    idle = {"sessionID": opencode.id, "cwd": str(opencode.place), "text": "hm"}

    assert opencode.hook("idle", {**idle, "timestamp": int(time.time() * 1000)}).out == ""
    assert len(opencode.events("BriefOffered")) == 1
    assert "ITERATION 1/" in opencode.prompt("/untilgreen go").said["brief"]


def test_a_lost_network_pauses_the_loop_and_go_offers_the_lap_again(opencode: Session) -> None:
    answer = opencode.hook("error", failed(opencode, message="fetch failed: ECONNRESET"))
    assert "is paused: network" in answer.said["toast"]

    again = opencode.prompt("/untilgreen go")

    assert "ITERATION 1/" in again.said["brief"]
    assert opencode.laps() == 0


def test_three_errors_within_seconds_end_nothing(opencode: Session) -> None:
    for _ in range(3):
        opencode.hook("error", failed(opencode))
        opencode.prompt("/untilgreen go")

    assert opencode.events("RunFinished") == []
    assert opencode.state()["active"] is True


def test_a_wrong_key_waits_for_a_person(opencode: Session) -> None:
    answer = opencode.hook("error", failed(opencode, statusCode=401, message="invalid api key"))

    assert "can't continue" in answer.said["toast"]
    assert "Fix that, then type: /untilgreen go" in answer.said["toast"]
    assert "ITERATION 1/" in opencode.prompt("/untilgreen go").said["brief"]


def test_a_few_seconds_pass_before_other_hooks_are_overtaken(opencode: Session) -> None:
    begun = time.monotonic()

    opencode.hook("error", failed(opencode))

    assert time.monotonic() - begun >= RECOVERY_SECONDS
