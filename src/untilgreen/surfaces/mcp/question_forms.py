"""Puts a run's questions to the person at the client, as a form that the client shows; never to the model.

In older versions of the protocol the server asks while the tool waits; since 2026-07-28 the tool's answer is
the question, and the client calls it again with the person's choice. Closing the form is not an answer.
"""

from __future__ import annotations

import os
from time import time
from typing import Any

import mcp_types as types
from anyio import to_thread

from untilgreen.core.loop.receive import Answer, question_id
from untilgreen.core.values.state import RunState
from untilgreen.engine.driving.end_undriven import end_undriven
from untilgreen.engine.driving.launch import deliver_and_launch
from untilgreen.engine.operations.calling_run import hidden_ancestry, started_by
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.store.runs import Store
from untilgreen.engine.worktree.premises import LocalPremises
from untilgreen.process.table import INSIDE
from untilgreen.surfaces.text.questions import CHOICES, NEEDS_MORE, choices_of, question_of
from untilgreen.surfaces.text.safe_text import inert, inert_lines

BY = "a person at an MCP client"
_ANSWER, _NOTE = "answer", "note"


def run_around(store: Store) -> str:
    """The run that started this server, whose agent could pose as the person; empty if none did."""
    known = os.environ.get(INSIDE) or started_by(store.state_dir)
    return known or hidden_ancestry(store.state_dir) or ""


def form(state: RunState) -> types.ElicitRequestFormParams | None:
    """The question as a form; None if nothing is asked that a form can answer.

    Approvals are left out: they need a name that somebody vouches for.
    """
    if state.open_question is None or state.outcome is not None:
        return None
    choices = [each for each in choices_of(state) if each not in NEEDS_MORE]
    if not choices:
        return None
    lines = [inert_lines(question_of(state)), ""]
    lines += [f"{inert(each)}: {CHOICES.get(each, '')}".rstrip(": ") for each in choices]
    schema = {
        "type": "object",
        "properties": {
            _ANSWER: {"type": "string", "title": "Answer", "enum": choices},
            _NOTE: {"type": "string", "title": "Note for the agent"},
        },
        "required": [_ANSWER],
    }
    return types.ElicitRequestFormParams(message="\n".join(lines), requested_schema=schema)


def can_show(context: Any) -> bool:
    """Whether the client shows forms."""
    can = context.session.client_capabilities
    return can is not None and can.elicitation is not None


async def ask(
    context: Any, params: types.CallToolRequestParams, record: FolderRecord, store: Store
) -> types.InputRequiredResult | bool:
    """Put a run's question to the person; return whether they answered, or what the tool answers to ask."""
    state = (await record.load()).state
    shown, key = form(state), question_id(state)
    if shown is None or not can_show(context) or await to_thread.run_sync(run_around, store) != "":
        return False
    given = (params.input_responses or {}).get(key)
    if given is None and context.session.can_send_request:
        given = await context.session.elicit_form(shown.message, shown.requested_schema, context.request_id)
    if given is None:
        return types.InputRequiredResult(input_requests={key: types.ElicitRequest(params=shown)})
    return await take(record, store, key, given)


async def take(record: FolderRecord, store: Store, key: str, given: Any) -> bool:
    """Whether a filled-in form was an answer, and the run accepted it."""
    content = given.content if isinstance(given, types.ElicitResult) and given.action == "accept" else None
    choice = (content or {}).get(_ANSWER)
    if not isinstance(choice, str):
        return False
    note = (content or {}).get(_NOTE)
    answer = Answer(at=time(), by=BY, question=key, choice=choice, note=note if isinstance(note, str) else "")
    if await deliver_and_launch(record, answer):
        return False
    await end_undriven(record, LocalPremises(store))
    return True
