"""The sandbox as it is written in a spec."""

from typing import Any

import pytest

from tests.config.helpers import layers_of
from untilgreen.config.checks.parse import parse
from untilgreen.config.from_plan import values_of
from untilgreen.core.values.model import Plan, SandboxSpec
from untilgreen.errors import ConfigError


def sandbox_of(*tables: Any) -> SandboxSpec:
    return parse(layers_of(*tables), "do it").sandbox


def test_a_word_and_a_table_say_the_same() -> None:
    assert sandbox_of({}) == SandboxSpec()
    assert (
        sandbox_of({"sandbox": "bwrap"})
        == sandbox_of({"sandbox": {"mode": "bwrap"}})
        == SandboxSpec(mode="bwrap")
    )


def test_repeating_the_mode_keeps_its_options_and_none_drops_them() -> None:
    written = {"mode": "bwrap", "network": "agents", "env": ["NPM_TOKEN"], "read": ["~/.npmrc"]}

    again = sandbox_of({"sandbox": written}, {"sandbox": {"mode": "bwrap"}})

    assert again == SandboxSpec(mode="bwrap", network="agents", env=("NPM_TOKEN",), read=("~/.npmrc",))
    assert sandbox_of({"sandbox": written}, {"sandbox": {"mode": "none"}}) == SandboxSpec()


def test_containers_have_an_image() -> None:
    written = {"mode": "podman", "image": "localhost/mine", "disk": "10G"}

    assert sandbox_of({"sandbox": written}) == SandboxSpec(mode="podman", image="localhost/mine", disk="10G")


def test_a_plan_becomes_the_same_spec_again() -> None:
    sandbox = SandboxSpec(mode="bwrap", write=("/srv/cache",), env=("AWS_*",), memory="4G", processes=512)

    values = values_of(Plan(task="do it", sandbox=sandbox))

    assert sandbox_of({"sandbox": values["sandbox"]}) == sandbox
    assert values_of(Plan(task="do it"))["sandbox"] == "none"


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("dockr", "sandbox can't be 'dockr'. Did you mean 'docker'?"),
        ("docker", "Containers need sandbox.image, and it is only for them."),
        ({"mode": "podman", "image": ""}, "Containers need sandbox.image"),
        ({"mode": "bwrap", "image": "mine"}, "Containers need sandbox.image, and it is only for them."),
        ({"mode": "bwrp"}, "sandbox.mode can't be 'bwrp'. Did you mean 'bwrap'?"),
        ({"mode": "bwrap", "netwrk": "all"}, "sandbox has no key 'netwrk'. Did you mean 'network'?"),
        ({"network": "agents"}, "sandbox.network needs the mode 'bwrap'. Add `mode = 'bwrap'`"),
        ({"mode": "bwrap", "network": True}, "sandbox.network can't be true."),
        ({"mode": "bwrap", "env": ["A=b"]}, "sandbox.env can't contain 'A=b'. Write names of variables"),
        ({"mode": "bwrap", "write": ["~"]}, "sandbox.write can't contain '~'. Write paths that begin with"),
        ({"mode": "bwrap", "write": ["//"]}, "neither the whole disk nor the whole home directory"),
        ({"mode": "bwrap", "write": ["~/."]}, "neither the whole disk nor the whole home directory"),
        ({"mode": "bwrap", "read": ["/./"]}, "neither the whole disk nor the whole home directory"),
        ({"mode": "bwrap", "disk": "much"}, "sandbox.disk = 'much' is not a valid count."),
        ({"mode": "bwrap", "memory": "4 GB"}, "sandbox.memory = '4 GB' is not a valid count."),
        ({"mode": "bwrap", "processes": 0}, "sandbox.processes"),
        ({"mode": "bwrap", "read": ["cache"]}, "sandbox.read can't contain 'cache'."),
        ({"mode": "bwrap", "read": ["~/../other"]}, "sandbox.read can't contain '~/../other'."),
    ],
)
def test_an_invalid_sandbox_is_refused_with_the_reason(written: Any, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        sandbox_of({"sandbox": written})

    assert said in str(caught.value)
