"""Secrets are cut out of what a run stores, and put back where they are used."""

import os

import msgspec
import pytest

from untilgreen.core.values.events import GateChecked
from untilgreen.core.values.model import Finding, GateSpec, PartSpec, Plan, Verdict
from untilgreen.core.values.secrets import Secrets
from untilgreen.engine.wiring.objects import agents_of, gates_of, notifiers_of, objects_of
from untilgreen.engine.wiring.redaction import (
    missing,
    redacted,
    redacted_value,
    secrets_of,
    with_secrets,
    without_secrets,
)

SECRET = "hunter2-hunter2"
# In two pieces, so that no scanner reports this file as a leak.
TOKEN = "ghp" + "_16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_TOKEN", SECRET)


def gate(**env: str) -> GateSpec:
    return GateSpec(name="login", kind="command", options={"run": f"login '{SECRET}'", "env": env})


PLAN = Plan(
    task=f"Log in with {SECRET} or {TOKEN}.",
    gates=(gate(),),
    agents=(PartSpec(name="fix", use="command", options={"command": f"fix --key '{SECRET}'"}),),
    notify=(PartSpec(name="webhook", use="webhook", options={"url": f"https://example.org/{SECRET}"}),),
    workspace={"base": "/", "start": "/"},
)


@pytest.mark.parametrize("part", ["task", "gates", "agents", "notify"])
def test_no_part_of_a_plan_is_written_down_with_a_secret(part: str) -> None:
    kept, _ = redacted(PLAN)
    written = msgspec.json.encode(getattr(kept, part)).decode()

    assert "${SERVICE_TOKEN}" in written
    assert SECRET not in written
    assert TOKEN not in written


def test_gates_agents_and_notifiers_are_made_with_the_values_that_were_meant() -> None:
    kept, _ = redacted(PLAN)
    (login,), (fix,) = gates_of(kept, objects_of(kept)).values(), agents_of(kept, objects_of(kept)).values()
    (webhook,) = notifiers_of(kept, objects_of(kept))

    assert getattr(login, "run", "") == f"login '{SECRET}'"
    assert getattr(fix, "command", "") == f"fix --key '{SECRET}'"
    assert getattr(webhook, "url", "") == f"https://example.org/{SECRET}"


def test_a_variable_of_a_gate_is_a_secret_of_the_whole_run() -> None:
    """The agent can read it in the spec, and the gate's tool may write it into a report."""
    secrets = secrets_of(Plan(task="do it", gates=(gate(IT_TOKEN="swordfish-swordfish"),)))

    assert secrets.redact("it is swordfish-swordfish") == "it is [IT_TOKEN redacted]"


def test_a_variable_of_a_gate_that_names_one_of_ours_is_the_same_secret() -> None:
    secrets = secrets_of(Plan(task="do it", gates=(gate(IT_TOKEN="me:${SERVICE_TOKEN}"),)))

    assert secrets.redact(f"me:{SECRET}") == "[IT_TOKEN redacted]"


@pytest.mark.parametrize(
    "verdict",
    [
        Verdict(status="fail", excerpt=f"said {SECRET}"),
        Verdict(status="fail", findings=(Finding(id=SECRET, message=TOKEN, file=f"{SECRET}.txt"),)),
    ],
)
def test_an_event_has_no_secret_wherever_it_was(verdict: Verdict) -> None:
    event = GateChecked(at=1.0, lap=1, gate=f"gate {SECRET}", verdict=verdict)
    clean = without_secrets(event, Secrets(os.environ))
    written = msgspec.json.encode(clean).decode()

    assert isinstance(clean, GateChecked)
    assert SECRET not in written
    assert TOKEN not in written


def test_keys_of_a_table_are_redacted_like_its_values() -> None:
    shown = redacted_value({f"a {SECRET}": [f"b {TOKEN}", {SECRET: 1}]})

    assert shown == {"a ${SERVICE_TOKEN}": ["b [token redacted]", {"${SERVICE_TOKEN}": 1}]}
    assert with_secrets({"a": ["${SERVICE_TOKEN}", {"b": "${HOME}"}]}) == {"a": [SECRET, {"b": "${HOME}"}]}


def test_a_secret_written_in_the_spec_itself_is_reported() -> None:
    _, said = redacted(Plan(task="do it", gates=(gate(IT_TOKEN="swordfish-swordfish"),)))

    assert "IT_TOKEN of gate login is a secret written in the spec itself" in said
    assert redacted(Plan(task="do it", gates=(gate(IT_TOKEN=SECRET),)))[1] == ""


def test_a_secret_that_is_not_set_here_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    kept, _ = redacted(PLAN)
    assert missing(kept) == ()

    monkeypatch.delenv("SERVICE_TOKEN")
    (said,) = missing(kept)
    assert said.startswith("Gate login uses SERVICE_TOKEN, which is not set here.")
