"""Gates as they are written in a spec."""

from typing import Any

import pytest

from tests.config.helpers import layers_of
from untilgreen.config.checks.gates import check_gate, gate_of
from untilgreen.core.values.model import GateSpec
from untilgreen.errors import ConfigError


def made(table: dict[str, Any], name: str = "tests") -> GateSpec:
    layers = layers_of({"gates": {name: table}})
    check_gate(layers, name, layers.values["gates"][name])
    return gate_of(layers, name, layers.values["gates"][name])


def finding(table: dict[str, Any], name: str = "tests") -> str:
    with pytest.raises(ConfigError) as caught:
        made(table, name)
    said = str(caught.value)
    assert said.startswith("layer 1: ")
    return said.removeprefix("layer 1: ")


def test_a_command_is_enough() -> None:
    assert made({"run": "pytest -q"}) == GateSpec(
        name="tests", kind="command", options={"run": "pytest -q"}, timeout=600.0, shown_as="pytest -q"
    )


def test_a_gate_that_says_nothing_more_has_the_defaults_of_the_page() -> None:
    gate = made({"run": "x"})

    assert (gate.required, gate.stage, gate.on_fail, gate.when) == (True, 1, "iterate", "always")
    assert (gate.timeout, gate.retries, gate.max_attempts) == (600.0, 0, None)


def test_a_command_gate_may_say_all_of_this() -> None:
    gate = made(
        {
            "kind": "command",
            "run": "make test",
            "report": "junit.xml",
            "expect": 3,
            "env": {"CI": "1"},
            "cwd": "web",
            "required": False,
            "stage": 2,
            "on_fail": "ask",
            "when": "changed",
            "timeout": "1h30m",
            "retries": 1,
            "max_attempts": 4,
        }
    )

    assert gate == GateSpec(
        name="tests",
        kind="command",
        options={"run": "make test", "report": "junit.xml", "expect": 3, "env": {"CI": "1"}, "cwd": "web"},
        required=False,
        stage=2,
        on_fail="ask",
        when="changed",
        timeout=5400.0,
        retries=1,
        max_attempts=4,
        shown_as="make test",
    )


@pytest.mark.parametrize("key", ["use", "kind"])
def test_another_kind_gets_the_remaining_keys_as_its_options(key: str) -> None:
    gate = made({key: "./checks.py:NoTodos", "word": "TODO", "stage": 2, "timeout": 30})

    assert gate == GateSpec(
        name="tests", kind="./checks.py:NoTodos", options={"word": "TODO"}, stage=2, timeout=30.0
    )


@pytest.mark.parametrize(
    ("written", "seconds"), [("90s", 90.0), (0.5, 0.5), ("Unlimited", None), (" 2m ", 120.0)]
)
def test_a_time_limit_is_read_as_people_write_it(written: float | str, seconds: float | None) -> None:
    assert made({"run": "x", "timeout": written}).timeout == seconds


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({}, "gate 'tests' has no command. Add `run = \"…\"`."),
        ({"stage": 2}, "gate 'tests' has no command. Add `run = \"…\"`."),
        ({"run": " "}, "gates.tests.run is empty. Fill it in, or remove it."),
        ({"use": ""}, "gates.tests.use is empty. Fill it in, or remove it."),
        ({"kind": ""}, "gates.tests.kind is empty. Fill it in, or remove it."),
        ({"run": 5}, "gates.tests.run = 5 must be text."),
        ({"run": ["pytest", "-q"]}, "gates.tests.run = ['pytest', '-q'] must be text."),
        ({"use": 5}, "gates.tests.use = 5 must be text."),
        ({"use": "x", "kind": "command"}, "gate 'tests' has both `kind` and `use`. Keep one."),
        ({"run": "x", "reprot": "j.xml"}, "gate 'tests' has no key 'reprot'. Did you mean 'report'?"),
        ({"run": "x", "onfail": "stop"}, "gate 'tests' has no key 'onfail'. Did you mean 'on_fail'?"),
        (
            {"run": "x", "on_fail": "itterate"},
            "gates.tests.on_fail can't be 'itterate'. Did you mean 'iterate'?",
        ),
        (
            {"run": "x", "on_fail": "escalate"},
            "gates.tests.on_fail can't be 'escalate'. Known: ask, iterate, stop.",
        ),
        ({"run": "x", "when": "Change"}, "gates.tests.when can't be 'Change'. Did you mean 'changed'?"),
        ({"run": "x", "required": "yes"}, "gates.tests.required = 'yes' must be true or false."),
        ({"run": "x", "stage": "1"}, "gates.tests.stage = '1' must be a whole number, at least 1."),
        ({"run": "x", "stage": 1.5}, "gates.tests.stage = 1.5 must be a whole number, at least 1."),
        ({"run": "x", "stage": True}, "gates.tests.stage = true must be a whole number, at least 1."),
        ({"run": "x", "stage": 0}, "gates.tests.stage = 0 must be a whole number, at least 1."),
        ({"run": "x", "retries": -1}, "gates.tests.retries = -1 must be a whole number, at least 0."),
        ({"run": "x", "max_attempts": 0}, "gates.tests.max_attempts = 0 must be a whole number, at least 1."),
        ({"run": "x", "expect": 256}, "gates.tests.expect = 256 must be a whole number from 0 to 255."),
        ({"run": "x", "expect": -1}, "gates.tests.expect = -1 must be a whole number from 0 to 255."),
        ({"run": "x", "report": 1}, "gates.tests.report = 1 must be text."),
        ({"run": "x", "env": {"A": 1}}, "gates.tests.env.A = 1 must be text."),
        ({"run": "x", "env": "A=1"}, "gates.tests.env = 'A=1' must be a table."),
        ({"run": "x", "cwd": []}, "gates.tests.cwd = [] must be text."),
        ({"use": "./c.py:C", "stage": 0}, "gates.tests.stage = 0 must be a whole number, at least 1."),
        ({"use": "./c.py:C", "timeout": True}, "gates.tests.timeout = true must be a number or text."),
    ],
)
def test_an_invalid_value_is_reported_with_its_key(table: dict[str, Any], said: str) -> None:
    assert finding(table) == said


@pytest.mark.parametrize("timeout", ["soon", "", "10"])
def test_a_time_limit_that_nobody_can_read_is_answered_with_an_example(timeout: str) -> None:
    assert finding({"run": "x", "timeout": timeout}) == (
        f"gates.tests.timeout = {timeout!r} is not a valid duration. "
        "Write it like '90s', '30m', '4h' or '1h30m'."
    )


@pytest.mark.parametrize("timeout", [0, -5, "0s"])
def test_a_time_of_zero_or_less_is_answered_with_the_word_for_no_limit(timeout: float | str) -> None:
    assert finding({"run": "x", "timeout": timeout}).endswith(
        "must be above zero. For no limit, write 'unlimited'."
    )


@pytest.mark.parametrize("name", ["tests", "pytest -q", "a.b/c", "größe", "x" * 200])
def test_a_name_is_any_line(name: str) -> None:
    assert made({"run": "x"}, name).name == name


@pytest.mark.parametrize("name", ["", " ", "a\nb", "a\tb", "a\x1b[31m", "x" * 201])
def test_text_that_is_not_one_short_line_is_not_a_name(name: str) -> None:
    assert "can't be a gate's name. Use one line of at most 200 characters" in finding({"run": "x"}, name)


@pytest.mark.parametrize("name", ["claim", "integrity"])
def test_the_names_of_our_own_gates_are_taken(name: str) -> None:
    assert finding({"run": "x"}, name) == (f"{name!r} is reserved. Choose another name for the gate.")
