"""The operations that only read; each function has the name of its operation."""

from __future__ import annotations

from contextlib import suppress

import msgspec

from untilgreen import __version__
from untilgreen.core.loop.step import AwaitResume, Wait, next_step
from untilgreen.core.scoring.progress import progress
from untilgreen.core.values.model import Verdict
from untilgreen.core.values.state import Lap
from untilgreen.engine.store.reading import status
from untilgreen.engine.store.scratch import brief_name
from untilgreen.engine.wiring.clock import SystemClock
from untilgreen.errors import UntilgreenError
from untilgreen.surfaces.json.lap import lap_view
from untilgreen.surfaces.report.content import Diff, reported_gates, shortened_diff
from untilgreen.surfaces.text.current_step import current_step
from untilgreen.surfaces.web.api import requests, values
from untilgreen.surfaces.web.guard import Refusal
from untilgreen.surfaces.web.handlers.call import Call
from untilgreen.surfaces.web.known_runs import KnownRun, ListedRun
from untilgreen.surfaces.web.questions import question_for
from untilgreen.surfaces.web.runs import batched
from untilgreen.surfaces.web.summaries import course_of, summary_of
from untilgreen.surfaces.why.evidence import Reasons, reasons
from untilgreen.surfaces.why.text import words

LARGEST_PART = 1_000_000
MOST_COMPARED = 8


async def version(call: Call) -> values.ServerVersion:
    """Which server this is."""
    service = call.service
    roots = () if service.read_only else tuple(map(str, service.start.roots))
    return values.ServerVersion(
        untilgreen=__version__,
        api="1",
        read_only=service.read_only,
        roots=roots,
        fleet=bool(service.fleet),
        person=call.person,
    )


async def list_runs(call: Call) -> values.RunsPage:
    """A page of runs that fit the filters, newest first."""
    page: requests.Page = call.query
    names = await call.service.runs.names()
    start = names.index(page.before) + 1 if page.before in names else 0
    limit = max(1, min(page.limit, 200))
    found: list[values.RunSummary] = []
    for some in batched(names[start:], limit):
        for name, listed in zip(some, await call.service.runs.listed_all(some), strict=True):
            summary = _summary(name, listed)
            if summary is None or not _fits(summary, page):
                continue
            if len(found) == limit:
                return _page(call, found, len(names), found[-1].run)
            found.append(summary)
    return _page(call, found, len(names))


def _page(
    call: Call, found: list[values.RunSummary], total: int, following: str | None = None
) -> values.RunsPage:
    return values.RunsPage(runs=tuple(found), total=total, next=following, missing=call.service.runs.missing)


async def show_run(call: Call) -> values.RunView:
    """Everything about a run but its laps."""
    run = await call.run()
    state = run.state
    why = reasons(state)
    return values.RunView(
        run=run.id,
        status=status(state),
        running=run.running,
        now=_now(run),
        outcome=None if state.outcome is None else str(state.outcome),
        reason=why.reason,
        task=state.plan.task,
        title=state.plan.title,
        labels=state.plan.labels,
        workspace=run.workspace,
        agents=state.plan.agent_names(),
        strategy=state.plan.strategy.name,
        started=state.started or None,
        updated=state.now,
        elapsed=state.elapsed,
        tokens=state.spent.tokens,
        cost=state.spent.cost,
        limits=state.plan.limits,
        best=state.best,
        laps=len(state.laps),
        open_lap=state.open.number if state.open and state.outcome is None else None,
        gates=reported_gates(state.plan),
        progress=progress(state),
        why=why,
        question=question_for(state),
        position=run.position,
        head=run.head,
        fleet=run.folder is None,
    )


def _now(run: KnownRun) -> str:
    step = next_step(run.state)
    if step is not None and not run.running and run.state.open_question is None:
        if run.folder is not None:
            return "interrupted: no process is driving this run"
        if not isinstance(step, Wait | AwaitResume):
            return "waiting for a worker of the fleet"
    return current_step(run.state, SystemClock().now())


async def course(call: Call) -> values.Course:
    """Scores, findings, cost and verdicts of every lap."""
    return course_of((await call.run()).state)


async def why(call: Call) -> Reasons:
    """The evidence for the last decision."""
    return reasons((await call.run()).state)


async def show_lap(call: Call) -> values.LapPage:
    """Brief, reply, verdicts and diff of one lap."""
    run = await call.run()
    number = call.lap(run)
    lap = next((each for each in run.state.baseline_and_laps if each.number == number), None)
    if lap is None:
        raise Refusal(404, "Not found", f"Lap {number} of run {run.id} is not over yet.")
    diff, missing = await _diff(run, lap)
    before = next((each for each in run.state.baseline_and_laps if each.number == number - 1), None)
    earlier = frozenset[str]().union(
        *(each.failing for each in run.state.baseline_and_laps if each.number < number)
    )
    previous = before.failing if before else frozenset()
    brief = await run.record.kept(brief_name(number)) or b""
    return values.LapPage(
        run=run.id,
        laps=len(run.state.laps),
        lap=lap_view(lap),
        brief=brief[:LARGEST_PART].decode("utf-8", "replace"),
        fixed=tuple(sorted(previous - lap.failing)),
        broken=tuple(sorted(lap.failing & earlier - previous)),
        new=tuple(sorted(lap.failing - earlier)) if before else (),
        diff=diff,
        missing=missing,
    )


async def gate_output(call: Call) -> values.TextPart:
    """What a gate printed, part by part; its file is named by the run, not by the request."""
    run = await call.run()
    number, gate = call.lap(run), call.gate(run)
    offset: requests.Offset = call.query
    if offset.offset < 0 or not 1 <= offset.limit <= LARGEST_PART:
        raise Refusal(400, "Bad request", f"offset must be at least 0, and limit from 1 to {LARGEST_PART:,}.")
    verdict = _verdict(run, number, gate)
    kept = await run.record.kept(verdict.output) if verdict and verdict.output else None
    data = kept if kept is not None else (verdict.excerpt if verdict else "").encode("utf-8", "replace")
    part = data[offset.offset : offset.offset + offset.limit]
    return values.TextPart(
        text=part.decode("utf-8", "replace"),
        offset=offset.offset,
        next=offset.offset + len(part),
        total=len(data),
    )


async def activity(call: Call) -> values.ActivityPart:
    """What the agent showed while it worked, from an offset on."""
    run = await call.run()
    number, offset = call.lap(run), call.query.offset
    lap = run.state.open
    attempt = lap.attempt if lap is not None and lap.number == number else 1
    shown, following = await run.record.activity(number, attempt, offset)
    return values.ActivityPart(shown=tuple(shown), next=following)


async def report(call: Call) -> tuple[str, str]:
    """The report as text, and its media type."""
    from untilgreen.surfaces.report import html, junit, markdown
    from untilgreen.surfaces.report.gathering import report_on

    run = await call.run()
    content = await report_on(run.opened, run.state, run.head)
    match call.query.format:
        case "html":
            return html.page(content), "text/html; charset=utf-8"
        case "md" | "markdown":
            return markdown.document(content), "text/markdown; charset=utf-8"
        case "junit":
            return junit.document(content), "application/xml"
        case "json":
            return msgspec.json.encode(content).decode(), "application/json"
        case "text":
            return "\n".join(words(content.why)) + "\n", "text/plain; charset=utf-8"
        case other:
            raise Refusal(
                400, "Bad request", f"{other[:40]!r} is not a format: html, md, json, junit or text."
            )


async def compare(call: Call) -> values.Comparison:
    """Several runs side by side."""
    names = [name for name in call.query.runs.split(",") if name]
    if not 1 <= len(names) <= MOST_COMPARED:
        raise Refusal(400, "Bad request", f"Name one to {MOST_COMPARED} runs, separated by commas.")
    return values.Comparison(runs=tuple([await _compared(call, name) for name in names]))


async def _compared(call: Call, name: str) -> values.ComparedRun:
    run = await call.service.runs.get(name)
    return values.ComparedRun(
        summary=summary_of(await call.service.runs.listed(name)),
        reason=reasons(run.state).reason,
        course=course_of(run.state),
    )


async def inbox(call: Call) -> values.Inbox:
    """Every open question, the oldest first."""
    asked = [await _question(call, each.name) for each in await _asking(call)]
    return values.Inbox(
        questions=tuple(sorted((each for each in asked if each), key=lambda each: each.asked))
    )


async def metrics(call: Call) -> tuple[str, str]:
    """Counts for Prometheus: runs that are open, running and waiting."""
    open_runs = await call.service.runs.listed_open()
    rows = {
        "untilgreen_runs": len(await call.service.runs.names()),
        "untilgreen_runs_open": len(open_runs),
        "untilgreen_runs_running": sum(run.running for run in open_runs),
        "untilgreen_runs_waiting": len(await _asking(call)),
    }
    text = "".join(f"# TYPE {name} gauge\n{name} {value}\n" for name, value in rows.items())
    return text, "text/plain; version=0.0.4"


async def _asking(call: Call) -> list[ListedRun]:
    return [each for each in await call.service.runs.listed_open() if each.row.question_id]


async def _question(call: Call, name: str) -> values.Question | None:
    with suppress(Refusal, UntilgreenError):
        return question_for((await call.service.runs.get(name)).state)
    return None


def _summary(name: str, listed: ListedRun | Refusal) -> values.RunSummary | None:
    if isinstance(listed, ListedRun):
        return summary_of(listed)
    return None if listed.problem.status == 404 else damaged(name, str(listed))


def damaged(name: str, why: str) -> values.RunSummary:
    """A run whose journal can't be read is listed with the reason."""
    return values.RunSummary(
        run=name,
        status="damaged",
        running=False,
        title="",
        workspace="",
        labels={},
        agent="",
        strategy="",
        laps=0,
        most_laps=None,
        score=0.0,
        scores=(),
        cost=None,
        tokens=None,
        elapsed=0.0,
        started=None,
        updated=0.0,
        gates=(),
        problem=why,
    )


def _fits(run: values.RunSummary, page: requests.Page) -> bool:
    name, _, value = page.label.partition("=")
    return (
        (not page.status or page.status in (run.status, "running" if run.running else ""))
        and (not page.workspace or run.workspace == page.workspace)
        and (not page.label or run.labels.get(name) == value)
        and (not page.search or page.search.lower() in f"{run.run} {run.title} {run.agent}".lower())
    )


async def _diff(run: KnownRun, lap: Lap) -> tuple[Diff, str]:
    """What a lap changed, without secrets."""
    from untilgreen.engine.worktree.snapshots import lap_diff_in

    if lap.number == 0 or not lap.moved:
        return Diff(), ""
    try:
        text = await lap_diff_in(run.opened, run.state, lap)
    except UntilgreenError as error:
        return Diff(), f"The diff can't be shown: {error}"
    return shortened_diff(text), ""


def _verdict(run: KnownRun, number: int, gate: str) -> Verdict | None:
    laps = {lap.number: lap.verdicts for lap in run.state.baseline_and_laps}
    if run.state.open is not None:
        laps[run.state.open.number] = run.state.open.verdicts
    return laps.get(number, {}).get(gate)
