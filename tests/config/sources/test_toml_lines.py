"""The line of a key, however TOML lets people write it."""

from textwrap import dedent
from typing import Any

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from untilgreen.config.sources.toml_lines import Key, line_of

SPEC = dedent(
    '''\
    task = """
    [limits]
    cost = "not a key, but text"
    """
    agent = { use = "claude",  model = "opus" } # a = 1
    limits.time = "4h"
    limits . "errors" = 3
    agents = [
        "claude",
        # ["codex"]
        { use = "codex", env = { A = 1 } },
    ]
    note = \'\'\'
    deep = 1\'\'\'
    when = 1979-05-27 07:32:00
    half = 1.5

    [gates.tests] # [gates.lint]
    run = "a = b"
      stage = 2

    [ gates . "unit [1] = \\"x\\"" ]
    run = '# no comment'

    [gates.'a.b'.env]
    A = "1"

    [[notify]]
    use = "bell"
    [notify.options]
    loud = true
    [[notify]]
    use = "mail"
    options.loud = false
    '''
)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("task",), 1),
        (("agent",), 5),
        (("agent", "model"), 5),
        (("limits",), 6),
        (("limits", "time"), 6),
        (("limits", "errors"), 7),
        (("agents",), 8),
        (("agents", 0), 9),
        (("agents", 1), 11),
        (("agents", 1, "env", "A"), 11),
        (("note",), 13),
        (("when",), 15),
        (("half",), 16),
        (("gates",), 18),
        (("gates", "tests"), 18),
        (("gates", "tests", "run"), 19),
        (("gates", "tests", "stage"), 20),
        (("gates", 'unit [1] = "x"'), 22),
        (("gates", 'unit [1] = "x"', "run"), 23),
        (("gates", "a.b", "env", "A"), 26),
        (("notify", 0), 28),
        (("notify", 0, "options", "loud"), 31),
        (("notify", 1), 32),
        (("notify", 1, "use"), 33),
        (("notify", 1, "options", "loud"), 34),
    ],
)
def test_a_key_is_found_on_its_line(path: Key, line: int) -> None:
    assert line_of(SPEC, path) == line


def test_the_examples_are_toml() -> None:
    assert tomlkit.parse(SPEC).unwrap()["gates"]["a.b"]["env"]["A"] == "1"


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("gates", "tests", "report"), 18),
        (("limits", "cost"), 6),
        (("agents", 7, "use"), 8),
        (("nothing",), None),
        ((), None),
    ],
)
def test_a_key_that_is_not_there_is_looked_for_around_its_place(path: Key, line: int | None) -> None:
    assert line_of(SPEC, path) == line


@pytest.mark.parametrize("quotes", ['"""', "'''"])
def test_a_multiline_text_may_itself_end_in_quotes(quotes: str) -> None:
    text = f"a = {quotes}x{quotes}{quotes[:2]}\nb = 1\n"

    assert line_of(text, ("b",)) == 2


def test_lines_that_end_as_on_windows_are_counted_once() -> None:
    assert line_of("a = 1\r\n\r\n[b]\r\nc = 2\r\n", ("b", "c")) == 4


@given(st.text(alphabet="ab=.,[]{}\"'#\\\n 1", max_size=60))
def test_any_text_is_walked_to_its_end(text: str) -> None:
    found = line_of(text, ("a", "b"))

    assert found is None or 1 <= found <= text.count("\n") + 1


NAMES = st.text(alphabet=st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=6)
VALUES = st.recursive(
    st.integers() | st.booleans() | st.text(max_size=20) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(NAMES, VALUES, min_size=1, max_size=5))
def test_every_key_that_a_writer_wrote_is_found_on_a_line_that_has_it(values: dict[str, Any]) -> None:
    text = tomlkit.dumps(values)
    lines = text.split("\n")

    for path in _paths(tomlkit.parse(text).unwrap()):
        number = line_of(text, path)
        assert number is not None
        written = tomlkit.key(str(path[-1])).as_string()
        assert written in lines[number - 1] or str(path[-1]) in lines[number - 1]


def _paths(table: dict[str, Any], above: tuple[str, ...] = ()) -> list[Key]:
    """Every key of a document except those inside lists."""
    found: list[Key] = []
    for key, value in table.items():
        found.append((*above, key))
        if isinstance(value, dict):
            found += _paths(value, (*above, key))
    return found
