"""Every request gets a documented answer: no 500, no undocumented status, no undocumented shape."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import httpx
import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.surfaces.web.helpers import HOST, TOKEN, at_once, keep
from untilgreen.engine.store.hub import Hubs
from untilgreen.engine.store.runs import Store
from untilgreen.surfaces.web.api.operations import TABLE, Operation
from untilgreen.surfaces.web.api.requests import Problem
from untilgreen.surfaces.web.api.values import ANSWERS
from untilgreen.surfaces.web.application import application
from untilgreen.surfaces.web.changed_runs import ChangedRuns
from untilgreen.surfaces.web.handlers.call import Service
from untilgreen.surfaces.web.mcp_mount import McpMount
from untilgreen.surfaces.web.runs import Runs

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
JSON_BODY = {"content-type": "application/json"}
KNOWN = {"choice": "accept", "lap": 1, "note": "x", "file": "a.py", "first": 1, "last": 2, "text": "t"}


@st.composite
def bodies(draw: st.DrawFn, operation: Operation) -> Any:
    """Mostly bodies of the right shape with odd values in them."""
    if operation.body is None or draw(st.integers(0, 4)) == 0:
        return draw(JSON)
    names = list(operation.body.__struct_fields__)
    chosen = draw(st.lists(st.sampled_from(names), unique=True)) if names else []
    return {name: draw(st.just(KNOWN[name]) | JSON if name in KNOWN else JSON) for name in chosen}


@given(st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_answer_is_documented(tmp_path: Path, data: st.DataObject) -> None:
    operation = data.draw(st.sampled_from([each for each in TABLE if not each.streams]))
    store = Store(tmp_path / "state")
    names = [folder.id for folder in store.runs()] or [anyio.run(keep, store, tmp_path, "green")]
    path = operation.path
    for part, values in (
        ("{run}", st.sampled_from(names) | TEXT),
        ("{lap}", st.integers(-2, 12).map(str) | TEXT),
        ("{gate}", st.sampled_from(["tests", "style"]) | TEXT),
    ):
        path = path.replace(part, quote(data.draw(values), safe="") or "-")
    keys = st.sampled_from(["offset", "limit", "runs", "format", "status"]) | TEXT
    texts = TEXT | st.sampled_from(["html", "md", "json", "junit", "text"])
    query = data.draw(st.dictionaries(keys, texts, max_size=2))
    body = data.draw(bodies(operation))

    answer = anyio.run(ask, store, operation, path, query, body)

    assert answer.status_code < 500, answer.text
    if answer.status_code == 200:
        media = answer.headers["content-type"].partition(";")[0]
        assert media in (operation.media, *operation.forms)
        if operation.media == "application/json":
            msgspec.json.decode(answer.content, type=ANSWERS[operation.answer])
    else:
        problem = msgspec.json.decode(answer.content, type=Problem)
        assert problem.status == answer.status_code
        assert problem.detail.strip()


async def ask(store: Store, operation: Operation, path: str, query: Any, body: Any) -> httpx.Response:
    runs = Runs(store)
    service = Service(runs=runs, hubs=Hubs(), changes=ChangedRuns(runs), mcp=McpMount())
    app = application(at_once(service), hosts={HOST}, token=TOKEN, me="ann")
    transport = httpx.ASGITransport(app=app)
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}", headers=headers) as client:
        if operation.method == "GET":
            return await client.get(path, params=query)
        # Not `json=`: httpx refuses to write NaN and Infinity, and a hostile client would not.
        sent = json.dumps(body)
        return await client.request(operation.method, path, params=query, content=sent, headers=JSON_BODY)
