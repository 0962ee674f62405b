"""Lines of a journal: what is read is what was written, or an error names the line that is not."""

import json
from hashlib import blake2b
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import inspect

from untilgreen.core.strategies.ralph import Ralph
from untilgreen.core.values.decision import Continue
from untilgreen.core.values.events import (
    Attached,
    Decided,
    Event,
    Paused,
    Resumed,
    RunFinished,
    RunStarted,
    SnapshotTaken,
    Steered,
)
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import Outcome, Plan
from untilgreen.errors import JournalDamaged, JournalError
from untilgreen.journal.codec import End, decode, encode
from untilgreen.testing import tell

FINITE = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | FINITE | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
LIMITS = st.builds(
    Limits,
    iterations=st.integers(1, 99),
    time=st.floats(1, 1e6) | st.none() | st.just("4h"),
    tokens=st.none() | st.just("2M"),
    cost=st.none() | st.just("$5"),
)


def anything(kind: inspect.Type) -> st.SearchStrategy[Any]:  # noqa: C901 - one case per kind of field
    """Values for a field, from what msgspec knows about its type."""
    match kind:
        case inspect.StructType(cls=cls) if cls is Limits:
            return LIMITS
        case inspect.StructType(cls=cls, fields=fields):
            required = {field.name: anything(field.type) for field in fields if field.required}
            optional = {field.name: anything(field.type) for field in fields if not field.required}
            return st.fixed_dictionaries(required, optional=optional).map(lambda given: cls(**given))
        case inspect.UnionType(types=types):
            return st.one_of([anything(each) for each in types])
        case inspect.VarTupleType(item_type=item):
            return st.lists(anything(item), max_size=3).map(tuple)
        case inspect.DictType(value_type=value):
            return st.dictionaries(st.text(), anything(value), max_size=3)
        case inspect.LiteralType(values=values):
            return st.sampled_from(values)
        case inspect.EnumType(cls=cls):
            return st.sampled_from(cls)
        case inspect.AnyType():
            return JSON
        case inspect.FloatType():
            return FINITE
        case inspect.IntType():
            return st.integers()
        case inspect.BoolType():
            return st.booleans()
        case inspect.StrType():
            return st.text()
        case inspect.NoneType():
            return st.none()
        case _:
            raise AssertionError(f"an event has a field of a type that this test does not know: {kind}")


EVENTS = st.sampled_from(get_args(Event)).flatmap(lambda cls: anything(inspect.type_info(cls)))
FEW = st.lists(EVENTS, min_size=1, max_size=4)
SMALL: list[Event] = [
    Attached(at=1.0, pid=7),
    Steered(at=2.5, id="n1", note="JZ*\n\nJournals kept: Jä 😀 \x0b"),
    SnapshotTaken(at=3.0, lap=1, phase="turn", snapshot="4b825dc"),
]


def journal(events: list[Event]) -> bytes:
    data, end = b"", End()
    for event in events:
        line, end = encode(event, end)
        data += line
    return data


def flipped(data: bytes, byte: int, bit: int) -> bytes:
    return data[:byte] + bytes([data[byte] ^ 1 << bit]) + data[byte + 1 :]


def sealed(body: bytes, before: str) -> tuple[bytes, str]:
    """A line as the format defines it, written without the codec."""
    head = blake2b(before.encode() + body, digest_size=16).hexdigest()
    return body + b',"hash":"' + head.encode() + b'"}\n', head


def assert_noticed_or_torn(data: bytes, whole: list[Event]) -> None:
    """Reading a damaged journal either fails or gives exactly the events before its torn end."""
    try:
        events, _ = decode(data)
    except JournalError:
        return
    assert events == whole


@pytest.mark.parametrize("kind", get_args(Event), ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_every_event_comes_back_as_it_was(kind: type[Event], data: st.DataObject) -> None:
    event = data.draw(anything(inspect.type_info(kind)))

    line, end = encode(event, End())

    assert decode(line) == ([event], end)


@given(FEW)
def test_a_journal_gives_its_events_in_order(events: list[Event]) -> None:
    data = journal(events)

    read, end = decode(data)

    assert read == events
    assert (end.seq, end.size) == (len(events), len(data))


@given(FEW, st.data())
def test_reading_can_stop_at_any_line_and_continue(events: list[Event], data: st.DataObject) -> None:
    whole = journal(events)
    _, stop = decode(journal(events[: data.draw(st.integers(0, len(events)))]))

    rest, end = decode(whole[stop.size :], stop)

    assert rest == events[stop.seq :]
    assert end == decode(whole)[1]


@given(FEW, st.data())
def test_a_journal_cut_at_any_byte_reads_as_a_prefix(events: list[Event], data: st.DataObject) -> None:
    whole = journal(events)
    cut = data.draw(st.integers(0, len(whole)))

    read, end = decode(whole[:cut])

    assert read == events[: len(read)]
    assert end.seq == len(read) == max(0, whole[:cut].count(b"\n") - 1)


@given(FEW, st.data())
def test_a_flipped_bit_is_noticed(events: list[Event], data: st.DataObject) -> None:
    whole = journal(events)
    byte, bit = data.draw(st.integers(0, len(whole) - 1)), data.draw(st.integers(0, 7))

    with pytest.raises(JournalError):
        decode(flipped(whole, byte, bit))


def test_a_flipped_bit_is_noticed_wherever_it_is() -> None:
    """Every bit of a whole journal: header, newlines, the last line and its newline included."""
    whole = journal(SMALL)

    for byte in range(len(whole)):
        for bit in range(8):
            with pytest.raises(JournalError):
                decode(flipped(whole, byte, bit))


def test_a_flipped_bit_is_noticed_in_a_journal_that_has_only_its_header() -> None:
    header = journal(SMALL).split(b"\n")[0] + b"\n"

    assert decode(header)[0] == []
    for byte in range(len(header)):
        for bit in range(8):
            with pytest.raises(JournalError):
                decode(flipped(header, byte, bit))


def test_a_flipped_bit_in_a_torn_journal_never_takes_or_adds_an_event() -> None:
    """The last line is torn at every byte in turn; the dangerous byte is the newline before it."""
    whole = journal(SMALL[:2])
    last = whole.rindex(b"\n", 0, -1) + 1
    for cut in range(last, len(whole)):
        for byte in (last - 1, cut - 1, (last + cut - 1) // 2):
            for bit in range(8):
                assert_noticed_or_torn(flipped(whole[:cut], byte, bit), SMALL[:1])


@given(FEW, st.data())
def test_a_flipped_bit_in_any_torn_journal_never_takes_or_adds_an_event(
    events: list[Event], data: st.DataObject
) -> None:
    whole = journal(events)
    cut = data.draw(st.integers(1, len(whole)))
    byte, bit = data.draw(st.integers(0, cut - 1)), data.draw(st.integers(0, 7))

    assert_noticed_or_torn(flipped(whole[:cut], byte, bit), decode(whole[:cut])[0])


def test_a_line_that_lacks_only_its_newline_never_happened() -> None:
    assert decode(journal(SMALL)[:-1])[0] == SMALL[:-1]


def test_a_damaged_newline_is_damage_also_at_the_end() -> None:
    with pytest.raises(JournalDamaged, match=r"Line 4 of x\.jsonl .* should end with a newline"):
        decode(journal(SMALL)[:-1] + b"\x0b", name="x.jsonl")


def test_damage_names_the_file_the_line_and_the_hash_that_was_expected() -> None:
    lines = journal(SMALL).splitlines(keepends=True)
    written = json.loads(lines[2])["hash"]
    lines[2] = lines[2].replace(written.encode(), b"0" * 32)

    with pytest.raises(JournalDamaged, match=rf"Line 3 of x\.jsonl is not what was written.*{written}"):
        decode(b"".join(lines), name="x.jsonl")


@pytest.mark.parametrize("order", [(0, 2, 1, 3), (0, 1, 1, 2, 3), (0, 1, 3), (1, 2, 3), (0, 0, 1, 2)])
def test_lines_that_moved_are_damage(order: tuple[int, ...]) -> None:
    lines = journal(SMALL).splitlines(keepends=True)

    with pytest.raises(JournalDamaged):
        decode(b"".join(lines[place] for place in order))


def test_a_wrong_number_is_damage_also_under_a_right_hash() -> None:
    header = journal(SMALL).splitlines(keepends=True)[0]
    line, _ = sealed(b'{"seq":2,"event":{"type":"Resumed","at":1.0}', json.loads(header)["hash"])

    with pytest.raises(JournalDamaged, match="should have number 1, but has 2"):
        decode(header + line)


def test_what_is_not_json_is_damage_also_under_a_right_hash() -> None:
    header = journal(SMALL).splitlines(keepends=True)[0]
    line, _ = sealed(b'{"seq":1,"event":{"type":"Resumed","at":}', json.loads(header)["hash"])

    with pytest.raises(JournalDamaged, match=r"Line 2 .* should be JSON"):
        decode(header + line)


def test_a_file_that_is_not_a_journal_is_refused() -> None:
    with pytest.raises(JournalDamaged, match=r'Line 1 of notes\.txt .*"format":"untilgreen-journal/1"'):
        decode(b"dear diary\n", name="notes.txt")


def test_a_newer_format_is_refused_by_its_number() -> None:
    header, _ = sealed(b'{"format":"untilgreen-journal/2"', "")

    with pytest.raises(JournalError, match=r"has format '2'.* newer untilgreen") as caught:
        decode(header + b"whatever a later version writes\n")

    assert not isinstance(caught.value, JournalDamaged)


def test_an_event_of_a_newer_version_is_not_damage() -> None:
    header = journal(SMALL).splitlines(keepends=True)[0]
    line, _ = sealed(b'{"seq":1,"event":{"type":"Teleported","at":1.0}', json.loads(header)["hash"])

    with pytest.raises(JournalError, match=r"Teleported.* newer untilgreen") as caught:
        decode(header + line)

    assert not isinstance(caught.value, JournalDamaged)


def test_a_field_of_a_newer_version_is_passed_over() -> None:
    header = journal(SMALL).splitlines(keepends=True)[0]
    line, _ = sealed(b'{"seq":1,"event":{"type":"Resumed","at":1.0,"mood":[1]}', json.loads(header)["hash"])

    assert decode(header + line)[0] == [Resumed(at=1.0)]


@pytest.mark.parametrize(
    "event",
    [
        Resumed(at=float("nan")),
        Resumed(at=1.0, by="\ud800"),
        Decided(at=1.0, lap=1, decision=Continue(reason="", metadata={"key": object()})),
    ],
    ids=["not a number", "half a character", "an object"],
)
def test_an_event_that_could_not_be_read_again_is_not_written(event: Event) -> None:
    with pytest.raises(JournalError, match=f"{type(event).__name__} can't be written"):
        encode(event, End())


def test_the_chain_can_be_checked_by_hand() -> None:
    """The format is what the docstring of the codec's module says, checked without the codec."""
    head, numbers = "", []
    for line in journal(SMALL).splitlines():
        body, _, rest = line.rpartition(b',"hash":"')
        head = blake2b(head.encode() + body, digest_size=16).hexdigest()
        assert rest == head.encode() + b'"}'
        numbers.append(json.loads(line).get("seq"))

    assert numbers == [None, 1, 2, 3]
    assert head == decode(journal(SMALL))[1].head


def test_two_journals_with_the_same_end_but_another_begin_have_different_heads() -> None:
    other = [Attached(at=1.0, pid=8), *SMALL[1:]]

    assert decode(journal(SMALL))[1].head != decode(journal(other))[1].head


def test_a_whole_story_comes_back() -> None:
    events = [event for _, event in tell("ab a* -*", Ralph())]

    assert decode(journal(events))[0] == events


def test_limits_come_back_as_numbers_and_unlimited_stays_unlimited() -> None:
    plan = Plan(task="t", limits=Limits(time="unlimited", cost="$5", iterations=3))

    ((read,), _) = decode(journal([RunStarted(at=0.0, run="r", plan=plan)]))

    assert isinstance(read, RunStarted)
    assert (read.plan.limits.time, read.plan.limits.cost) == (None, 5.0)


def test_every_line_is_json_for_other_tools() -> None:
    events: list[Event] = [Paused(at=1.0, reason="a\nb"), RunFinished(at=2, outcome=Outcome.STUCK, reason="")]

    lines = [msgspec.json.decode(line) for line in journal(events).splitlines()]

    assert lines[0]["format"] == "untilgreen-journal/1"
    assert [line["event"]["type"] for line in lines[1:]] == ["Paused", "RunFinished"]
