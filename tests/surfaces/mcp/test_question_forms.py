"""A run's questions reach the person at the client, in both eras of the protocol; only a choice answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.surfaces.web.helpers import keep
from untilgreen.core.values.events import Answered
from untilgreen.engine.store.runs import Store

pytest.importorskip("mcp", reason="the extra [mcp] is not installed")

ERAS = ("auto", "legacy")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.delenv("UNTILGREEN_INSIDE", raising=False)
    return Store(tmp_path / "state")


class Person:
    """The person at the client, who does the same with every form."""

    def __init__(self, action: str, **content: str) -> None:
        self.action, self.content = action, content
        self.shown: list[Any] = []

    async def __call__(self, context: Any, params: Any) -> Any:
        from mcp_types import ElicitResult

        self.shown.append(params)
        return ElicitResult(action=self.action, content=self.content or None)


def waited(store: Store, person: Person | None, *, power: str = "start", **how: Any) -> tuple[Any, list[Any]]:
    """The result of `run_wait` for a run that asks, and the answers in its journal."""
    from mcp.client import Client

    from untilgreen.surfaces.mcp.server import make_server
    from untilgreen.surfaces.mcp.tools import Runs

    async def main() -> tuple[Any, list[Any]]:
        run = await keep(store, store.state_dir.parent, "asking")
        server = make_server(lambda: Runs(store, store.state_dir.parent, power=power))  # type: ignore[arg-type]
        async with Client(server, elicitation_callback=person, **how) as client:
            said = await client.call_tool("run_wait", {"run": run, "seconds": 1})
        record = store.find(run, store.state_dir.parent)
        return said, [each for each in await record.open_journal().events() if isinstance(each, Answered)]

    return anyio.run(main)


@pytest.mark.parametrize("mode", ERAS)
def test_a_question_is_shown_as_a_form_and_the_choice_is_the_answer(store: Store, mode: str) -> None:
    person = Person("accept", answer="stop", note="enough")

    said, answers = waited(store, person, mode=mode)

    (form,) = person.shown
    assert form.message.startswith("Lap 1 scored 0.00")
    assert "stop" in form.requested_schema["properties"]["answer"]["enum"]
    assert [(each.choice, each.note, each.by) for each in answers] == [
        ("stop", "enough", "a person at an MCP client")
    ]
    assert said.structured_content["question"] == ""


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("action", ["cancel", "decline"])
def test_a_closed_form_does_not_answer(store: Store, mode: str, action: str) -> None:
    person = Person(action)

    said, answers = waited(store, person, mode=mode)

    assert (len(person.shown), answers) == (1, [])
    assert said.structured_content["question"].startswith("Lap 1 scored 0.00")


def test_only_an_offered_choice_is_an_answer(store: Store) -> None:
    assert waited(store, Person("accept", answer="approve everything"))[1] == []
    assert waited(store, Person("accept"))[1] == []


def test_a_client_without_forms_gets_the_question(store: Store) -> None:
    said, answers = waited(store, None)

    assert answers == []
    assert said.structured_content["question"].startswith("Lap 1 scored 0.00")


def test_a_viewer_is_not_asked(store: Store) -> None:
    person = Person("accept", answer="stop")

    assert waited(store, person, power="look")[1] == []
    assert person.shown == []


def test_the_agent_of_a_run_can_not_play_the_person(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNTILGREEN_INSIDE", "2pjxqjcvt")
    person = Person("accept", answer="stop")

    assert waited(store, person)[1] == []
    assert person.shown == []
