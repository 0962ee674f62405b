"""Values that are given as text."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untilgreen.config.sources.from_text import assignment, gates_from, toml_value, value_of
from untilgreen.errors import ConfigError


@pytest.mark.parametrize(
    ("written", "path", "value"),
    [
        ("limits.iterations=12", ("limits", "iterations"), 12),
        ("limits.cost='$5'", ("limits", "cost"), "$5"),
        ("limits.cost=$5", ("limits", "cost"), "$5"),
        ("limits . time = 4h ", ("limits", "time"), "4h"),
        ("baseline=false", ("baseline",), False),
        ("detectors=[]", ("detectors",), []),
        (
            'detectors=["cycle", { use = "stall", laps = 3 }]',
            ("detectors",),
            ["cycle", {"use": "stall", "laps": 3}],
        ),
        ("strategy={ use = 'fixed', iterations = 2 }", ("strategy",), {"use": "fixed", "iterations": 2}),
        ("strategy=fixed", ("strategy",), "fixed"),
        ("strategy=./rules.py:Patient", ("strategy",), "./rules.py:Patient"),
        ("agent=cmd:./fix.sh --fast", ("agent",), "cmd:./fix.sh --fast"),
        ('gates."unit.tests".run=a=b', ("gates", "unit.tests", "run"), "a=b"),
        ("gates.'a=b'.stage=2", ("gates", "a=b", "stage"), 2),
        (r'labels."say \"hi\""=1', ("labels", 'say "hi"'), "1"),
        ('task="""one\ntwo"""', ("task",), "one\ntwo"),
        ("task=one\ntwo = 2", ("task",), "one\ntwo = 2"),
        ("promise=", ("promise",), ""),
        ("leave=1\nsession=2", ("leave",), "1\nsession=2"),
    ],
)
def test_a_key_is_set_to_a_toml_value_or_to_the_text_itself(
    written: str, path: tuple[str, ...], value: Any
) -> None:
    assert assignment(written) == (path, value)


@pytest.mark.parametrize(
    "written",
    [
        "",
        "=",
        "limits",
        "=5",
        "limits.=5",
        ".limits=5",
        "a b=5",
        "[limits]=5",
        "a\n.b=5",
        "li\nmits=5",
        '"\\q"=1',
    ],
)
def test_anything_else_is_answered_with_an_example(written: str) -> None:
    with pytest.raises(ConfigError) as caught:
        assignment(written)
    assert str(caught.value).endswith("is not key=value. Write it like --set limits.iterations=12.")


@pytest.mark.parametrize(
    ("path", "text", "value"),
    [
        (("task",), "404", "404"),
        (("task",), "'quoted'", "quoted"),
        (("task",), "true", "true"),
        (("promise",), "1.0", "1.0"),
        (("labels", "day"), "2026-01-01", "2026-01-01"),
        (("gates", "tests", "run"), "[]", "[]"),
        (("gates", "tests", "env", "LEVEL"), "3", "3"),
        (("gates", "tests", "timeout"), "90", 90),
        (("gates", "tests", "retries"), "2", 2),
        (("limits", "tokens"), "2M", "2M"),
        (("limits", "cost"), "5", 5),
        (("agents",), "['a']", ["a"]),
        (("nothing", "known"), "5", 5),
    ],
)
def test_where_text_is_wanted_a_number_is_text_too(path: tuple[str, ...], text: str, value: Any) -> None:
    assert value_of(path, text) == value


@pytest.mark.parametrize("text", ["1\nb = 2", "1\n[table]", "[" * 3000, "1" * 5000, "", "unlimited"])
def test_what_is_not_one_value_stays_text(text: str) -> None:
    assert toml_value(text) == text


@given(st.text(max_size=40))
def test_no_text_is_too_strange(text: str) -> None:
    try:
        path, value = assignment(text)
    except ConfigError:
        path, value = ("x",), toml_value(text)
    assert path
    assert value is not None


@pytest.mark.parametrize(
    ("written", "name", "command"),
    [
        ("pytest -q", "pytest -q", "pytest -q"),
        ("tests=pytest -q", "tests", "pytest -q"),
        ("PYTHONPATH=src pytest -q", "PYTHONPATH=src pytest -q", "PYTHONPATH=src pytest -q"),
        ("A=1 B='two words' make test", "A=1 B='two words' make test", "A=1 B='two words' make test"),
        ("tests=PYTHONPATH=src pytest", "tests", "PYTHONPATH=src pytest"),
        ("TESTS=pytest", "TESTS", "pytest"),
        ("TESTS=pytest -q", "TESTS", "pytest -q"),
    ],
)
def test_a_gate_has_a_name_unless_it_begins_with_a_variable(written: str, name: str, command: str) -> None:
    assert gates_from([written]) == {name: {"run": command}}
