"""Objects of a stream are read value by value, and an unexpected one does no harm."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untilgreen.agents.kit.json_lines import JsonObject, read

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from("abc"), inner),
)


def test_values_are_found_by_their_path() -> None:
    said = read('{"a":{"b":[{"c":"x"},7,{"c":"y"}],"n":3,"yes":true},"s":"t","l":["p",1,"q"]}')

    assert said
    assert said.text("s") == "t"
    assert said.count("a", "n") == 3
    assert said.flag("a", "yes") is True
    assert [each.text("c") for each in said.parts("a", "b")] == ["x", "y"]
    assert said.texts("l") == ["p", "q"]
    assert [each.count("n") for each in said.values()] == [3]


def test_a_value_of_another_type_is_not_there() -> None:
    said = JsonObject({"a": "text", "n": "3", "yes": 1, "l": {}, "o": [], "neg": -4, "true": True})

    assert said.text("n") == "3"
    assert [said.text(name) for name in ("yes", "l", "o", "neg", "true")] == [""] * 5
    assert (said.number("n"), said.count("n"), said.count("neg"), said.number("true")) == (None, 0, 0, None)
    assert (said.flag("yes"), said.parts("l"), said.texts("l"), bool(said.part("o"))) == (None, [], [], False)
    assert (said.text("a", "b", "c"), said.text("missing")) == ("", "")


@pytest.mark.parametrize(
    "line", ["", "Welcome!", "[1]", "{", '{"a":', '{"a":1} trailing', '"text"', "{\udce9"]
)
def test_a_line_that_is_not_an_object_gives_nothing(line: str) -> None:
    assert read(line) is None


@given(JSON)
def test_no_value_is_too_strange_to_be_asked(value: object) -> None:
    said = JsonObject(value)

    for path in ((), ("a",), ("a", "b")):
        said.text(*path), said.number(*path), said.count(*path), said.flag(*path)
        said.part(*path).values(), said.parts(*path), said.texts(*path)
