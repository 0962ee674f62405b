"""Layers: which value wins, and where it came from."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.config.helpers import layers_of
from untilgreen.config.sources.layers import Layers, Source


def said_by(layers: Layers, *path: str) -> str:
    source = layers.source(path)
    assert source is not None
    return source.name


def test_a_later_value_replaces_an_earlier_one_and_brings_its_source() -> None:
    layers = layers_of({"leave": "best", "session": "fresh"}, {"leave": "last"})

    assert layers.values == {"leave": "last", "session": "fresh"}
    assert said_by(layers, "leave") == "layer 2"
    assert said_by(layers, "session") == "layer 1"


def test_tables_are_merged_key_by_key() -> None:
    layers = layers_of({"limits": {"time": "1h", "cost": 5}}, {"limits": {"cost": 1, "errors": 2}})

    assert layers.values == {"limits": {"time": "1h", "cost": 1, "errors": 2}}
    assert [said_by(layers, "limits", key) for key in ("time", "cost", "errors")] == [
        "layer 1",
        "layer 2",
        "layer 2",
    ]


def test_lists_are_replaced_as_a_whole() -> None:
    assert layers_of({"detectors": ["cycle", "stall"]}, {"detectors": []}).values == {"detectors": []}


def test_what_was_added_belongs_to_the_layers_alone() -> None:
    mine: dict[str, Any] = {"labels": {"a": "1"}, "agents": [{"use": "claude", "env": {}}]}
    layers = layers_of(mine, {"labels": {"b": "2"}})
    layers.values["agents"][0]["env"]["A"] = "1"

    assert mine == {"labels": {"a": "1"}, "agents": [{"use": "claude", "env": {}}]}


@pytest.mark.parametrize(
    ("below", "above", "holds"),
    [
        ("hybrid", {"base": 4}, {"use": "hybrid", "base": 4}),
        ({"use": "hybrid", "base": 3}, {"bonus": 1}, {"use": "hybrid", "base": 3, "bonus": 1}),
        ({"use": "hybrid", "base": 3}, {"use": "fixed", "iterations": 2}, {"use": "fixed", "iterations": 2}),
        ({"use": "hybrid", "base": 3}, {"use": "hybrid"}, {"use": "hybrid"}),
        ({"use": "hybrid", "base": 3}, "fixed", "fixed"),
        ({"base": 3}, {"use": "fixed"}, {"use": "fixed"}),
        ({"base": 3}, {"bonus": 1}, {"base": 3, "bonus": 1}),
    ],
)
def test_naming_a_strategy_replaces_it_and_options_alone_are_added(
    below: Any, above: Any, holds: Any
) -> None:
    assert layers_of({"strategy": below}, {"strategy": above}).values == {"strategy": holds}


def test_a_name_keeps_its_source_when_options_are_added_to_it() -> None:
    layers = layers_of({"strategy": "fixed"}, {"strategy": {"iterations": 9}})

    assert said_by(layers, "strategy", "use") == "layer 1"
    assert said_by(layers, "strategy", "iterations") == "layer 2"


def test_a_workspace_is_a_word_or_a_table_with_a_mode() -> None:
    layers = layers_of({"workspace": "in-place"}, {"workspace": {"setup": "npm ci"}})

    assert layers.values == {"workspace": {"mode": "in-place", "setup": "npm ci"}}


@pytest.mark.parametrize(
    ("below", "mode", "left"),
    [
        ({"mode": "worktree", "setup": "npm ci"}, "worktree", {"mode": "worktree", "setup": "npm ci"}),
        ({"setup": "npm ci"}, "worktree", {"setup": "npm ci", "mode": "worktree"}),
        ({"mode": "worktree", "setup": "npm ci"}, "in-place", {"mode": "in-place"}),
        ("worktree", "worktree", {"mode": "worktree"}),
        ("in-place", "worktree", {"mode": "worktree"}),
    ],
)
def test_naming_the_mode_once_more_keeps_its_options_and_naming_another_drops_them(
    below: Any, mode: str, left: dict[str, str]
) -> None:
    layers = layers_of({"workspace": below}, {"workspace": {"mode": mode}})

    assert layers.values == {"workspace": left}


def test_a_gate_is_changed_in_part_until_another_kind_is_named() -> None:
    gate = {"run": "pytest", "stage": 2}
    other = layers_of({"gates": {"a": gate}}, {"gates": {"a": {"use": "./checks.py:NoTodos"}}})

    assert layers_of({"gates": {"a": gate}}, {"gates": {"a": {"run": "make"}}}).values == {
        "gates": {"a": {"run": "make", "stage": 2}}
    }
    assert other.values == {"gates": {"a": {"use": "./checks.py:NoTodos"}}}
    assert ("gates", "a", "stage") not in other.sources


@pytest.mark.parametrize(
    ("below", "above"),
    [
        ({"agent": "claude"}, {"agents": ["codex", "claude"]}),
        ({"agents": ["codex", "claude"]}, {"agent": "claude"}),
        ({"agents": ["codex", "claude"]}, {"agent": {"use": "claude", "model": "opus"}}),
        ({"task": "this"}, {"task_file": "that.md"}),
        ({"task_file": "that.md"}, {"task": "this"}),
    ],
)
def test_two_ways_to_say_one_thing_replace_each_other(below: dict[str, Any], above: dict[str, Any]) -> None:
    layers = layers_of(below, above)

    assert layers.values == above
    assert set(layers.sources.values()) == {Source("layer 2")}


def test_both_ways_in_one_layer_stay_to_be_complained_about() -> None:
    both = {"agent": "claude", "agents": ["codex"]}

    assert layers_of({"agent": "aider"}, both).values == both


def test_options_of_the_agent_are_meant_for_the_only_one_that_is_listed() -> None:
    layers = layers_of({"agents": ["claude"]}, {"agent": {"model": "opus"}})

    assert layers.values == {"agent": {"use": "claude", "model": "opus"}}
    assert said_by(layers, "agent", "use") == "layer 1"
    assert said_by(layers, "agent", "model") == "layer 2"


def test_options_of_the_agent_fit_none_of_several() -> None:
    layers = layers_of({"agents": ["claude", "codex"]}, {"agent": {"model": "opus"}})

    assert layers.values == {"agents": ["claude", "codex"], "agent": {"model": "opus"}}


def test_one_value_is_set_by_its_key() -> None:
    layers = layers_of({"limits": {"cost": 5}, "strategy": "hybrid"})
    layers.set(("limits", "time"), "1h", Source("me"))
    layers.set(("strategy", "base"), 4, Source("me"))
    layers.set(("leave",), "last", Source("me"))

    assert layers.values == {
        "limits": {"cost": 5, "time": "1h"},
        "strategy": {"use": "hybrid", "base": 4},
        "leave": "last",
    }
    assert {path for path, source in layers.sources.items() if source.name == "me"} == {
        ("limits", "time"),
        ("strategy", "base"),
        ("leave",),
    }


def test_leaves_are_all_values_with_their_keys_and_sources() -> None:
    layers = layers_of(
        {"limits": {"cost": 5}, "labels": {}, "agents": ["a", {"use": "b"}]}, {"limits": {"time": 9}}
    )

    assert [(path, value, source and source.name) for path, value, source in layers.leaves()] == [
        (("limits", "cost"), 5, "layer 1"),
        (("limits", "time"), 9, "layer 2"),
        (("labels",), {}, "layer 1"),
        (("agents",), ["a", {"use": "b"}], "layer 1"),
    ]


def test_the_source_of_a_key_that_nobody_set_is_that_of_the_table_around_it() -> None:
    layers = layers_of({"gates": {"a": {"run": "x"}}}, {"gates": {"b": {"run": "y"}}})

    assert said_by(layers, "gates", "b", "stage") == "layer 2"
    assert layers.source(("limits", "cost")) is None


def test_an_error_begins_with_the_place_of_the_key() -> None:
    text = "[tool.untilgreen]\nleave = 'x'\n"
    layers = Layers()
    layers.add({"leave": "x"}, Source("pyproject.toml", Path("pyproject.toml"), text, ("tool", "untilgreen")))
    layers.set(("session",), "y", Source("--set session"))

    assert str(layers.error(("leave",), "no.")) == "pyproject.toml, line 2: no."
    assert str(layers.error(("session",), "no.")) == "--set session: no."
    assert str(layers.error(("labels",), "no.")) == "no."


WORD = st.sampled_from(["hybrid", "fixed"])
OPTIONS = st.dictionaries(st.sampled_from(["use", "base", "bonus"]), WORD, max_size=3)
SCALARS = st.integers() | st.booleans() | st.lists(st.integers(), max_size=2)
TABLES = st.fixed_dictionaries(
    {},
    optional={
        "leave": SCALARS,
        "limits": st.dictionaries(st.sampled_from("abc"), SCALARS, max_size=3),
        "gates": st.dictionaries(
            st.sampled_from("xy"),
            st.dictionaries(st.sampled_from(["run", "use", "stage"]), SCALARS, max_size=3),
            max_size=2,
        ),
        "strategy": WORD | OPTIONS,
        "agent": WORD | st.fixed_dictionaries({"use": WORD}, optional={"base": SCALARS}),
        "task": st.text(max_size=3),
    },
).flatmap(
    lambda table: st.sampled_from(
        [table, {("task_file" if key == "task" else key): value for key, value in table.items()}]
    )
)


@given(TABLES, TABLES, TABLES)
def test_it_does_not_matter_which_layers_were_laid_together_first(
    one: dict[str, Any], two: dict[str, Any], three: dict[str, Any]
) -> None:
    """True of keys that are tables in every layer or in none; a number between two tables drops the first."""
    assert layers_of(one, layers_of(two, three).values).values == layers_of(one, two, three).values


@given(TABLES, TABLES)
def test_every_value_that_holds_has_its_source(one: dict[str, Any], two: dict[str, Any]) -> None:
    layers = layers_of(one, two)

    for path, value, source in layers.leaves():
        assert source in (Source("layer 1"), Source("layer 2"))
        table: Any = one if source == Source("layer 1") else two
        table = _at(table, path)
        assert table == value
    assert {path for path, _, _ in layers.leaves()} <= layers.sources.keys()


def _at(table: Any, path: tuple[str, ...]) -> Any:
    """The value at this path in the layer that set it; a word is short for a table with `use`."""
    for key in path:
        table = table if isinstance(table, str) and key == "use" else table[key]
    return table
