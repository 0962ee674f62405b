"""The sandbox as a spec says it."""

from typing import Any

import pytest

from tests.config.helpers import layers_of
from untilgreen.config.again import values_of
from untilgreen.config.parse import parse
from untilgreen.core.model import Plan, Sandbox
from untilgreen.errors import ConfigError


def sandbox_of(*tables: Any) -> Sandbox:
    return parse(layers_of(*tables), "do it").sandbox


def test_a_word_and_a_table_say_the_same() -> None:
    assert sandbox_of({}) == Sandbox()
    assert (
        sandbox_of({"sandbox": "bwrap"})
        == sandbox_of({"sandbox": {"mode": "bwrap"}})
        == Sandbox(mode="bwrap")
    )


def test_the_mode_said_once_more_keeps_its_options_and_none_drops_them() -> None:
    written = {"mode": "bwrap", "network": "agents", "env": ["NPM_TOKEN"], "read": ["~/.npmrc"]}

    again = sandbox_of({"sandbox": written}, {"sandbox": {"mode": "bwrap"}})

    assert again == Sandbox(mode="bwrap", network="agents", env=("NPM_TOKEN",), read=("~/.npmrc",))
    assert sandbox_of({"sandbox": written}, {"sandbox": {"mode": "none"}}) == Sandbox()


def test_a_plan_becomes_the_same_spec_again() -> None:
    sandbox = Sandbox(mode="bwrap", write=("/srv/cache",), env=("AWS_*",))

    values = values_of(Plan(task="do it", sandbox=sandbox))

    assert sandbox_of({"sandbox": values["sandbox"]}) == sandbox
    assert values_of(Plan(task="do it"))["sandbox"] == "none"


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("docker", "sandbox can't be 'docker'. Known: bwrap, none."),
        ({"mode": "bwrp"}, "sandbox.mode can't be 'bwrp'. Did you mean 'bwrap'?"),
        ({"mode": "bwrap", "netwrk": "all"}, "the sandbox has no key 'netwrk'. Did you mean 'network'?"),
        ({"network": "agents"}, "sandbox.network belongs to the mode 'bwrap'. Add `mode = 'bwrap'`"),
        ({"mode": "bwrap", "network": True}, "sandbox.network can't be true."),
        ({"mode": "bwrap", "env": ["A=b"]}, "sandbox.env can't have 'A=b'. Write names of variables"),
        ({"mode": "bwrap", "write": ["~"]}, "sandbox.write can't have '~'. Write paths that begin with"),
        ({"mode": "bwrap", "write": ["//"]}, "neither the whole disk nor the whole home directory"),
        ({"mode": "bwrap", "write": ["~/."]}, "neither the whole disk nor the whole home directory"),
        ({"mode": "bwrap", "read": ["/./"]}, "neither the whole disk nor the whole home directory"),
        ({"mode": "bwrap", "read": ["cache"]}, "sandbox.read can't have 'cache'."),
        ({"mode": "bwrap", "read": ["~/../other"]}, "sandbox.read can't have '~/../other'."),
    ],
)
def test_what_makes_no_sense_is_named(written: Any, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        sandbox_of({"sandbox": written})

    assert said in str(caught.value)
