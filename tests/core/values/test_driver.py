"""The process that drives a run, as JSON."""

import pytest
from msgspec import ValidationError, json

from untilgreen.core.values.driver import Driver


@pytest.mark.parametrize(
    ("driver", "line"),
    [
        (Driver(place="here"), b'{"place":"here"}'),
        (Driver(place="here", pid=7, since="noon"), b'{"place":"here","pid":7,"since":"noon"}'),
        (Driver(place="there", token=(2, 1)), b'{"place":"there","token":[2,1]}'),
    ],
    ids=["place", "process", "fleet"],
)
def test_a_driver_is_written_without_what_is_not_known_and_read_back(driver: Driver, line: bytes) -> None:
    assert json.encode(driver) == line
    assert json.decode(line, type=Driver) == driver


def test_a_driver_is_always_somewhere() -> None:
    with pytest.raises(ValidationError, match="missing required field `place`"):
        json.decode(b'{"pid":7}', type=Driver)
