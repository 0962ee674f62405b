"""Which steps a driver takes in which seat."""

import pytest

from untilgreen.core.loop.step import AwaitAnswer, AwaitResume, Decide, Halt, Step, Wait
from untilgreen.engine.loop.seat import DAY, SERVED, TERMINAL, UNATTENDED, Seat, in_session

NOW = 1_000.0


@pytest.mark.parametrize("seat", [TERMINAL, UNATTENDED, SERVED, in_session("s")])
def test_every_seat_decides_and_none_takes_a_halt(seat: Seat) -> None:
    assert seat.takes(Decide(lap=1), NOW)
    assert not seat.takes(Halt(cause="agent"), NOW)


@pytest.mark.parametrize(
    ("step", "terminal", "unattended", "served"),
    [
        (AwaitAnswer(until=None), True, False, False),
        (AwaitAnswer(until=NOW + 900), True, False, True),
        (AwaitAnswer(until=NOW + 2 * DAY), True, False, False),
        (AwaitResume(reason="lunch"), True, False, False),
        (Wait(until=NOW + 60, reason="rate limit"), True, True, True),
    ],
)
def test_what_is_waited_for_depends_on_the_seat(
    step: Step, terminal: bool, unattended: bool, served: bool
) -> None:
    taken = [seat.takes(step, NOW) for seat in (TERMINAL, UNATTENDED, SERVED)]

    assert taken == [terminal, unattended, served]


def test_a_wait_that_is_due_is_taken_by_a_seat_without_patience() -> None:
    hurried = Seat(name="unattended", answers=False, patience=0.0)

    assert not hurried.takes(Wait(until=NOW + 1, reason=""), NOW)
    assert hurried.takes(Wait(until=NOW, reason=""), NOW)
