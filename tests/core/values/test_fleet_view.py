"""The overview of a fleet, to JSON and back."""

import msgspec

from untilgreen.core.values.fleet_view import (
    DrivenView,
    FleetView,
    LimitView,
    QueueView,
    TakeoverView,
    WorkerView,
)

FLEET = FleetView(
    workers=(WorkerView(name="one", slots=2, labels=("gpu",), seen=None, drives=("r1",)),),
    queues=(QueueView(name="runs", labels=("gpu",), waiting=1, workers=("one",)),),
    driven=(
        DrivenView(
            run="r1", worker="one", seen=5.0, drive=2, attempt=1, title="Fix it", agent="claude", laps=3
        ),
    ),
    limits=(LimitView(agent="claude", most=4, holders=("r1",), waiting=(), known=True),),
    takeovers=(TakeoverView(run="r1", at=4.0, before="two", after="one"),),
    resting=7,
)


def test_what_the_api_sends_is_what_the_fleet_knows() -> None:
    sent = msgspec.json.encode(FLEET)

    assert msgspec.json.decode(sent, type=FleetView) == FLEET
    assert msgspec.json.decode(sent)["workers"][0]["seen"] is None
