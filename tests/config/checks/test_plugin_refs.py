"""Strategies, detectors, agents and notifiers by name."""

from typing import Any

import pytest

from tests.config.helpers import layers_of
from untilgreen.config.checks.plugin_refs import (
    AGENT_FORMS,
    NOTIFIER_FORMS,
    check_part,
    distinct,
    part_of,
    parts_of,
)
from untilgreen.config.sources.layers import Layers
from untilgreen.core.values.model import PartSpec
from untilgreen.errors import ConfigError


@pytest.mark.parametrize(
    ("written", "part"),
    [
        ("claude", PartSpec(name="claude")),
        (" claude ", PartSpec(name="claude")),
        ({"use": "claude", "model": "opus"}, PartSpec(name="claude", options={"model": "opus"})),
        ("./rules.py:Patient", PartSpec(name="./rules.py:Patient")),
        ("acme.rules:Patient", PartSpec(name="acme.rules:Patient")),
        ("cmd:./fix.sh", PartSpec(name="cmd:./fix.sh", use="command", options={"command": "./fix.sh"})),
        ("cmd: a b:c", PartSpec(name="cmd: a b:c", use="command", options={"command": "a b:c"})),
        ("command:make", PartSpec(name="command:make", use="command", options={"command": "make"})),
        (
            {"use": "cmd:make", "shell": True},
            PartSpec(name="cmd:make", use="command", options={"command": "make", "shell": True}),
        ),
        ("cmd", PartSpec(name="cmd")),
    ],
)
def test_an_agent_is_a_name_a_command_or_a_table(written: Any, part: PartSpec) -> None:
    assert part_of(Layers(), ("agent",), written, AGENT_FORMS) == part


def test_a_notifier_may_be_a_command_or_a_webhook() -> None:
    parts = parts_of(
        Layers(), "notify", ["bell", "command:say done", "webhook:https://example.invalid/x"], NOTIFIER_FORMS
    )

    assert parts == (
        PartSpec(name="bell"),
        PartSpec(name="command:say done", use="command", options={"command": "say done"}),
        PartSpec(
            name="webhook:https://example.invalid/x",
            use="webhook",
            options={"url": "https://example.invalid/x"},
        ),
    )


def test_a_strategy_has_no_such_forms() -> None:
    assert part_of(Layers(), ("strategy",), "cmd:x") == PartSpec(name="cmd:x")
    assert part_of(Layers(), ("agent",), "webhook:x", AGENT_FORMS) == PartSpec(name="webhook:x")


def test_options_alone_are_those_of_the_default() -> None:
    assert part_of(Layers(), ("strategy",), {"base": 4}, default="hybrid") == PartSpec(
        name="hybrid", options={"base": 4}
    )


@pytest.mark.parametrize(
    "written", ["", "  ", {}, {"use": ""}, {"use": 5}, {"use": ["claude"]}, {"model": "x"}, 5, None]
)
def test_an_entry_that_names_nothing_is_reported_with_its_place(written: Any) -> None:
    layers = layers_of({"agents": ["claude", written]})

    with pytest.raises(
        ConfigError, match=r"^layer 1: agents \(entry 2\) does not name a plugin\. Write its name"
    ):
        parts_of(layers, "agents", layers.values["agents"], AGENT_FORMS)


def test_a_model_for_a_command_is_refused_with_what_to_do() -> None:
    with pytest.raises(ConfigError, match=r"^'cmd:a' has no model to set: .* Write the model into it\.$"):
        part_of(Layers(), ("agent",), {"use": "cmd:a", "model": "opus"}, AGENT_FORMS)


def test_a_command_that_is_given_twice_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^agent sets command twice: in 'cmd:a' and as an option\."):
        part_of(Layers(), ("agent",), {"use": "cmd:a", "command": "b"}, AGENT_FORMS)


def test_options_without_a_name_may_wait_for_another_layer() -> None:
    check_part(Layers(), ("agent",), {"model": "opus"})
    with pytest.raises(ConfigError, match="does not name a plugin"):
        check_part(Layers(), ("agent",), {"use": "", "model": "opus"})


def test_the_same_agent_twice_gets_a_number() -> None:
    parts = distinct(
        [
            PartSpec(name="claude", options={"model": "opus"}),
            PartSpec(name="claude#2"),
            PartSpec(name="codex"),
            PartSpec(name="claude", options={"model": "haiku"}),
            PartSpec(name="cmd:a", use="command"),
            PartSpec(name="cmd:a", use="command"),
        ]
    )

    assert [(part.name, part.use) for part in parts] == [
        ("claude", ""),
        ("claude#2", ""),
        ("codex", ""),
        ("claude#3", "claude"),
        ("cmd:a", "command"),
        ("cmd:a#2", "command"),
    ]
    assert parts[3].options == {"model": "haiku"}
