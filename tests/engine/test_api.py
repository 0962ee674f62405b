"""Runs from Python: parts by name or as objects, a handle while the run lasts, and the usual journal."""

from __future__ import annotations

import inspect
import shlex
import subprocess
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest

import untilgreen
from tests.surfaces.cli.helpers import repository, script
from untilgreen import (
    Brief,
    CheckContext,
    Continue,
    Decision,
    Finding,
    Limits,
    Reply,
    RunState,
    Signal,
    TurnContext,
    Verdict,
)
from untilgreen.core.values.events import Event, RunFinished
from untilgreen.core.values.model import Change
from untilgreen.engine import api
from untilgreen.errors import ConfigError, PluginFailed, UnknownPlugin, UserError
from untilgreen.plugins.registry import registry
from untilgreen.ports import Restoration

GATE = "done=test -f done"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository to work in, and a state directory just for this test."""
    monkeypatch.setenv("UNTILGREEN_STATE_DIR", str(tmp_path / "state"))
    place = repository(tmp_path / "project", {"notes.txt": "start\n"})
    monkeypatch.chdir(place)
    return place


@dataclass
class Worker:
    """Writes the lap's number into a file, and is done after `laps` of them."""

    laps: int = 2
    told: list[str] = field(default_factory=list)
    wait: anyio.Event | None = None

    async def work(self, brief: Brief, context: TurnContext) -> Reply:
        self.told.append(brief.text)
        if self.wait is not None:
            await self.wait.wait()
        await anyio.Path(context.root / "count").write_text(str(brief.lap))
        if brief.lap >= self.laps:
            await anyio.Path(context.root / "done").touch()
        return Reply(text=f"lap {brief.lap}")


class Counted:
    """Fails while the count is below three."""

    async def check(self, workspace: CheckContext) -> Verdict:
        path = workspace.root / "count"
        count = int(path.read_text()) if path.exists() else 0
        findings = tuple(Finding(id=f"below {number}") for number in range(count + 1, 4))
        return Verdict(status="fail" if findings else "pass", score=count / 3, findings=findings)


async def test_a_command_and_a_gate_by_name_are_all_it_takes(tmp_path: Path, place: Path) -> None:
    fix = script(tmp_path / "fix.sh", "touch done\n")

    state = await untilgreen.run("Mend it.", agent=f"cmd:{shlex.quote(str(fix))}", gates=["test -f done"])

    assert (state.outcome, len(state.laps)) == ("converged", 1)
    assert (place / "done").exists()


async def test_objects_stand_in_for_names_and_are_gone_afterwards() -> None:
    worker, heard = Worker(), []

    def on_event(event: Event, state: RunState) -> None:
        heard.append(event)

    state = await untilgreen.run(
        "Count to three.",
        agent=worker,
        gates={"counted": Counted()},
        on_event=on_event,
        limits={"iterations": 9},
    )

    assert (state.outcome, len(state.laps)) == ("converged", 3)
    assert [sorted(lap.failing) for lap in state.laps[:1]] == [["counted: below 2", "counted: below 3"]]
    assert sum(isinstance(event, RunFinished) for event in heard) == 1
    assert state.plan.agents[0].origin == "registered"
    assert not registry.has("agent", "Worker")
    assert not registry.has("gate", "Counted")


async def test_two_agents_of_one_class_are_told_apart() -> None:
    state = await untilgreen.run("Mend it.", agent=[Worker(laps=1), Worker()], gates=[GATE])

    assert state.plan.agent_names() == ("Worker", "Worker-2")


class Patient:
    """Continues, whatever happens."""

    def decide(self, state: RunState, signals: tuple[Signal, ...]) -> Decision:
        return Continue(reason="patience")


async def test_strategy_and_limits_are_those_that_were_given() -> None:
    state = await untilgreen.run(
        "Mend it.",
        agent=Worker(laps=99),
        gates=[GATE],
        strategy=Patient(),
        detectors=[],
        limits=Limits(iterations=3),
        labels={"team": "a"},
        settings={"leave": "last"},
    )

    assert (state.outcome, len(state.laps)) == ("exhausted", 3)
    assert (state.plan.strategy.name, state.plan.labels, state.plan.leave) == (
        "Patient",
        {"team": "a"},
        "last",
    )
    assert state.laps[0].decision == Continue(reason="patience")


class Curious:
    """Continues, and notes what it saw of the run."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []

    def decide(self, state: RunState, signals: tuple[Signal, ...]) -> Decision:
        limits = state.plan.limits
        laps = [lap.number for lap in state.laps]
        self.told.append((state.run, laps, limits.iterations, limits.time, state.plan.labels))
        return Continue(reason="curious")


async def test_a_strategy_is_asked_once_after_each_lap_with_all_laps_and_the_runs_own_data() -> None:
    curious = Curious()
    state = await untilgreen.run(
        "Mend it.",
        agent=Worker(laps=3),
        gates=[GATE],
        strategy=curious,
        limits=Limits(iterations=9, time="1h"),
        labels={"order": "17"},
    )

    assert (state.outcome, len(state.laps)) == ("converged", 3)
    assert curious.told == [(state.run, laps, 9, 3600.0, {"order": "17"}) for laps in ([1], [1, 2])]


async def test_the_brief_can_be_rewritten_and_the_claim_is_still_heard() -> None:
    worker = Worker()

    def brief(state: RunState, usual: str) -> str:
        return f"Lap {len(state.laps) + 1}. {usual.splitlines()[0]}"

    await untilgreen.run("Mend it.", agent=worker, gates=[GATE], brief=brief)

    assert [text.split(". ")[0] for text in worker.told] == ["Lap 1", "Lap 2"]
    assert not any("\n" in text for text in worker.told)


async def test_a_handle_shows_progress_and_takes_notes_and_a_stop() -> None:
    worker = Worker(laps=99, wait=anyio.Event())
    async with untilgreen.running("Mend it.", agent=worker, gates=[GATE]) as handle:
        assert handle.progress().total == 1
        await handle.steer("Look at the clock.")
        await handle.stop("enough")
        assert worker.wait is not None
        worker.wait.set()
        state = await handle.result()
        with pytest.raises(UserError, match="has ended"):
            await handle.stop()

    assert (state.outcome, state.reason) == ("cancelled", "enough")
    assert [note.text for note in state.notes] == ["Look at the clock."]
    assert handle.state == state
    assert (handle.folder / "journal.jsonl").exists()


async def test_a_handle_shows_how_far_a_run_is_while_it_is_driven() -> None:
    begun, seen = anyio.Event(), anyio.Event()

    class Watched(Worker):
        async def work(self, brief: Brief, context: TurnContext) -> Reply:
            if brief.lap == 2:
                begun.set()
                await seen.wait()
            return await super().work(brief, context)

    limits = Limits(iterations=9, time="1h")
    async with untilgreen.running(
        "Count to three.", agent=Watched(), gates={"counted": Counted()}, limits=limits
    ) as handle:
        await begun.wait()
        now, state = handle.progress(), handle.state
        seen.set()
        await handle.result()

    assert now.overall.score == pytest.approx(1 / 3)
    assert now.overall.trend == "improving"
    assert (now.passed, now.total, now.overall.laps_left) == (0, 1, 2)
    assert (len(state.laps), state.plan.limits.iterations) == (1, 9)
    assert (state.outcome, state.plan.limits.time) == (None, 3600)
    assert state.elapsed > 0
    assert (handle.progress().passed, len(handle.state.laps)) == (1, 3)


async def test_a_question_waits_for_the_answer_of_the_program() -> None:
    asked = anyio.Event()

    def on_event(event: Event, state: RunState) -> None:
        if state.asked is not None and state.answer is None:
            asked.set()

    async with untilgreen.running(
        "Mend it.", agent=Worker(laps=9), gates=[GATE], strategy="manual", answers=True, on_event=on_event
    ) as handle:
        await asked.wait()
        await handle.answer("accept")
        state = await handle.result()

    assert (state.outcome, len(state.laps)) == ("accepted", 1)


class Broken:
    """A strategy that raises."""

    def decide(self, state: RunState, signals: tuple[Signal, ...]) -> Decision:
        raise ValueError("no idea")


async def test_what_goes_wrong_is_raised_as_it_is_and_not_in_groups() -> None:
    with pytest.raises(
        PluginFailed,
        match=r"Strategy Broken raised ValueError \(.*test_api\.py, line \d+\) after lap 1: no idea",
    ):
        await untilgreen.run("Mend it.", agent=Worker(laps=9), gates=[GATE], strategy=Broken())


async def test_an_error_in_the_block_leaves_the_run_open_and_nothing_running() -> None:
    worker = Worker(laps=9, wait=anyio.Event())

    with pytest.raises(KeyError, match="mine"):
        async with untilgreen.running("Mend it.", agent=worker, gates=[GATE]) as handle:
            raise KeyError("mine")

    assert handle.state.outcome is None
    assert not registry.has("agent", "Worker")


async def test_a_run_that_was_left_continues_with_the_same_objects() -> None:
    first = Worker(laps=1, wait=anyio.Event())
    with pytest.raises(KeyError):
        async with untilgreen.running("Count.", agent=first, gates={"three": Counted()}) as left:
            raise KeyError("left")

    async with untilgreen.resuming(left.run, objects=[Worker(), Counted()]) as handle:
        state = await handle.result()

    assert (state.run, state.outcome, len(state.laps)) == (left.run, "converged", 3)


async def test_a_run_is_not_resumed_without_its_objects() -> None:
    with pytest.raises(KeyError):
        async with untilgreen.running("Count.", agent=Worker(), gates=[GATE]) as left:
            raise KeyError("left")

    with pytest.raises(UnknownPlugin, match="No agent named 'Worker'"):
        async with untilgreen.resuming("@last"):
            pass
    with pytest.raises(ConfigError, match="is not a part of a run"):
        async with untilgreen.resuming(left.run, objects=[object()]):  # type: ignore[list-item]
            pass


@dataclass
class Shelf:
    """A workspace that is a plain directory and keeps snapshots in memory."""

    root: Path
    kept: dict[str, dict[str, bytes]] = field(default_factory=dict)

    def _now(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.root.iterdir()}

    async def snapshot(self, label: str) -> str:
        now = self._now()
        identity = f"{hash(tuple(sorted(now.items()))):x}"
        self.kept[identity] = now
        return identity

    async def changes(self, before: str, after: str) -> Sequence[Change]:
        old, new = self.kept[before], self.kept[after]
        return [Change(path=name) for name in sorted({*old, *new}) if old.get(name) != new.get(name)]

    async def restore(self, snapshot: str, known: str | None, spare: Collection[str] = ()) -> Restoration:
        before = await self.snapshot("before")
        for name, content in self.kept[snapshot].items():
            (self.root / name).write_bytes(content)
        return Restoration(before=before)

    async def diff(self, before: str, after: str) -> str:
        return "\n".join(change.path for change in await self.changes(before, after))


async def test_a_custom_workspace_is_used_in_place_of_git(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "shelf")
    shelf.root.mkdir()

    state = await untilgreen.run("Mend it.", agent=Worker(), gates=[GATE], workspace=shelf)

    assert (state.outcome, len(state.laps)) == ("converged", 2)
    assert state.final_snapshot in shelf.kept
    assert [change.path for change in state.laps[1].changes] == ["count", "done"]


async def test_with_a_custom_workspace_a_warning_says_that_integrity_is_off(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "shelf")
    shelf.root.mkdir()
    heard: list[str] = []
    given: dict[str, Any] = {
        "agent": Worker(laps=1),
        "gates": [GATE],
        "workspace": shelf,
        "warn": heard.append,
    }

    state = await untilgreen.run("Mend it.", **given)
    (shelf.root / "done").unlink()
    await untilgreen.run("Mend it.", settings={"integrity": {"enabled": False}}, **given)

    assert [gate.name for gate in state.plan.gates] == ["done"]
    assert [sentence[:31] for sentence in heard] == ["Weakened tests are not detected"]
    with pytest.raises(untilgreen.UntilgreenError, match="integrity is not available here"):
        await untilgreen.run("Mend it.", settings={"integrity": {"protect": ["tests/**"]}}, **given)


def test_the_synchronous_twin_does_the_same(place: Path) -> None:
    state = untilgreen.run_sync("Mend it.", agent=Worker(), gates=[GATE], workspace=place)

    assert (state.outcome, len(state.laps)) == ("converged", 2)


async def test_the_spec_of_the_directory_counts_only_where_it_is_named(place: Path) -> None:
    (place / "untilgreen.toml").write_text('[gates.never]\nrun = "false"\n')

    without = await untilgreen.run("Mend it.", agent=Worker(laps=1), gates=[GATE])
    (place / "done").unlink()
    with_spec = await untilgreen.run(
        "Mend it.", agent=Worker(laps=1), gates=[GATE], spec="untilgreen.toml", limits={"iterations": 1}
    )

    assert without.outcome == "converged"
    assert with_spec.outcome == "exhausted"
    assert "never" in {gate.name for gate in with_spec.plan.gates}


async def test_mistakes_are_clear_errors_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(UnknownPlugin, match=r"No agent named 'claud'\. Did you mean 'claude'"):
        await untilgreen.run("Mend it.", agent="claud", gates=[GATE])
    with pytest.raises(ConfigError, match="Write a list"):
        await untilgreen.run("Mend it.", agent=Worker(), gates="pytest -q")
    with pytest.raises(ConfigError, match="There is no agent"):
        await untilgreen.run("Mend it.", agent=[], gates=[GATE])
    with pytest.raises(ConfigError, match="work"):
        await untilgreen.run("Mend it.", agent=object(), gates=[GATE])  # type: ignore[arg-type]

    assert not (tmp_path / "state" / "runs").exists()


def test_run_and_run_sync_take_what_running_takes() -> None:
    taken = set(inspect.signature(api.running).parameters) - {"task"}

    assert set(api.Options.__annotations__) == taken


def test_a_run_from_python_is_a_run_like_any_other() -> None:
    state = untilgreen.run_sync("Mend it.", agent=Worker(), gates=[GATE])
    shown = subprocess.run(
        [sys.executable, "-m", "untilgreen", "why", state.run], capture_output=True, text=True, check=False
    )

    assert shown.returncode == 0
    assert "converged: all required gates pass in lap 2" in shown.stdout
