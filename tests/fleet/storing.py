"""Store one history of each shape that the tests made, for later versions to replay."""

from __future__ import annotations

import json
import re
from hashlib import blake2b
from pathlib import Path

import anyio
from temporalio.client import Client

MOST = 5
"""The number of histories for each kind of workflow; the shortest show as much as the longest."""


async def store(address: str, folder: Path) -> None:
    """Write `KIND-SHAPE.json` for the first few shapes of each kind."""
    client = await Client.connect(address)
    found: dict[str, dict[str, str]] = {}
    async for each in client.list_workflows():
        kind = each.workflow_type.removeprefix("untilgreen.")
        history = await client.get_workflow_handle(each.id, run_id=each.run_id).fetch_history()
        shape = " ".join(str(event.event_type) for event in history.events)
        found.setdefault(kind, {}).setdefault(shape, _without_names(history.to_json()))
    for kind, shapes in found.items():
        for shape in sorted(shapes, key=len)[:MOST]:
            mark = blake2b(shape.encode(), digest_size=3).hexdigest()
            await anyio.Path(folder, f"{kind}-{mark}.json").write_text(shapes[shape])


def _without_names(text: str) -> str:
    """Remove the identities of clients and workers, which a replay doesn't need."""
    named = re.sub(r'"(identity|sdkName|workerIdentity)":\s*"[^"]*"', r'"\1": "somebody"', text)
    return json.dumps(json.loads(named), separators=(",", ":")) + "\n"
