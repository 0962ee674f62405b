"""Check what must be true of every journal of a fleet, whatever happened to the machines."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from tests.fleet.fleet_bench import FleetBench
from untilgreen.core.values.events import BriefOffered, Event, RunFinished, SnapshotTaken, TurnEnded
from untilgreen.core.values.model import Outcome
from untilgreen.fleet.client import Fleet
from untilgreen.fleet.runs.record import PostgresRecord


async def audit(
    fleet: Fleet, bench: FleetBench, record: PostgresRecord, outcome: Outcome = Outcome.CONVERGED
) -> list[Event]:
    """Check that a run's journal has no gap or fork and one end, and that its snapshots are pushed."""
    select = "SELECT seq, token FROM $schema.event WHERE run = %s ORDER BY seq"
    rows = fleet.records.database.run(lambda line: line.execute(select, (record.id,)).fetchall())
    assert [row[0] for row in rows] == list(range(len(rows))), "There is a gap."
    tokens = [tuple(row[1]) for row in rows]
    assert tokens == sorted(tokens), "An older driver wrote after a newer one."
    loaded = await record.load()  # this checks the chain of hashes
    events = list(await record.open_journal().events())
    assert loaded.state.outcome is outcome, (record.id, loaded.state.outcome, loaded.state.reason)
    assert [type(event) for event in events].count(RunFinished) == 1
    assert isinstance(events[-1], RunFinished)
    begun = [note for note in bench.notes() if note["run"] == record.id and note["what"] == "begin"]
    briefs = [event for event in events if isinstance(event, BriefOffered)]
    assert len(begun) <= len(briefs), "An agent was started more often than a brief was offered."
    carried = bench.git("log", "--format=%T", f"refs/untilgreen/{record.id}", there=True).split()
    taken = {event.snapshot for event in events if isinstance(event, SnapshotTaken)}
    assert taken <= set(carried), "A snapshot is on no remote."
    _check_laps(bench, record.id, events)
    return events


def _check_laps(bench: FleetBench, run: str, events: Sequence[Event]) -> None:
    """Check that each lap whose turn succeeded was judged on files that contain that turn's work."""
    ended = [note["mark"] for note in bench.notes() if note["run"] == run and note["what"] == "end"]
    seen: set[str] = set()
    well: TurnEnded | None = None
    for event in events:
        if isinstance(event, TurnEnded):
            well = event if event.reply.error is None else None
        elif isinstance(event, SnapshotTaken) and event.phase == "turn" and well is not None and ended:
            last = _lines(bench, event.snapshot)[-1]
            assert last in ended, f"Lap {event.lap} was judged on files without its turn's work."
            assert last not in seen, f"Lap {event.lap} was judged on the files of an earlier one."
            seen.add(last)
            well = None


def _lines(bench: FleetBench, tree: str) -> list[str]:
    shown = ["git", "--git-dir", str(bench.remote), "show", f"{tree}:lines"]
    return subprocess.run(shown, capture_output=True, text=True, check=True).stdout.splitlines()
