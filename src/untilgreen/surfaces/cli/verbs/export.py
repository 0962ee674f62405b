"""export: send what a journal holds to other tools."""

from __future__ import annotations

from typing import Annotated

import anyio
from cyclopts import Parameter

from untilgreen.core.loop.fold import apply
from untilgreen.core.values.state import RunState
from untilgreen.errors import UserError
from untilgreen.surfaces.cli.options import HERE, FleetPlace, Run
from untilgreen.surfaces.text.printing import out, tell

SEND_SECONDS = 60.0


def export(
    *runs: Run,
    otel: Annotated[bool, Parameter(help="Send traces to an OpenTelemetry collector.")] = False,
    endpoint: Annotated[
        str,
        Parameter(
            metavar="URL",
            help="Where to send them. Default: $OTEL_EXPORTER_OTLP_ENDPOINT.",
        ),
    ] = "",
    replies: Annotated[bool, Parameter(help="Send the agent's last words, too.")] = False,
    place: FleetPlace = HERE,
) -> int:
    """Send finished runs to an OpenTelemetry collector, as the notifier `traces` does.

    The ids are the same each time, so a trace that was sent in part is completed.

    Needs the extra: pip install 'untilgreen[otel]'
    """
    if not otel:
        raise UserError("Choose a destination: `untilgreen export --otel RUN` sends OpenTelemetry traces.")
    for run in runs or ("@last",):
        _send(run, place, endpoint, replies=replies)
    return 0


def _send(run: str, place: FleetPlace, endpoint: str, *, replies: bool) -> None:
    from untilgreen.notify.traces import Traces

    record = place.find(run)
    traces = Traces(endpoint=endpoint, replies=replies)
    state: RunState | None = None
    for event in anyio.run(record.open_journal().events):
        state = apply(state, event)
        traces.tell(event, state)
    sent, where, trouble = traces.send_all(SEND_SECONDS)
    if trouble:
        raise UserError(
            f"The trace of run {record.id} can't be sent to {where}: {trouble}. "
            "Start the collector, or name another one with --endpoint."
        )
    out(f"Sent {sent} {'span' if sent == 1 else 'spans'} of run {record.id} to {where}")
    if state is None or state.outcome is None:
        tell(f"Run {record.id} is not over: its trace has no root yet. Export it again when it is.")
