"""Traces for OpenTelemetry: one trace for each run, with a span for each lap, turn and gate.

Every span is made from events, with their own times, and its id is a digest of what it stands for: a driver
that continues after a crash continues the trace, and an old journal makes the same one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from anyio import to_thread

from untilgreen.core.values.events import (
    Attached,
    Decided,
    Event,
    GateChecked,
    Halted,
    Interrupted,
    Paused,
    RunFinished,
    TurnEnded,
)
from untilgreen.core.values.model import Reply
from untilgreen.core.values.option_checks import about
from untilgreen.core.values.state import Open, RunState
from untilgreen.errors import ConfigError, UntilgreenError

if TYPE_CHECKING:
    from untilgreen.notify.span_sender import SpanSender

EXTRA = "pip install 'untilgreen[otel]'"
FLUSH_SECONDS = 3.0
"""How long a collector may take when the driver is about to exit."""
_RUN = "run"


@dataclass(kw_only=True)
class Traces:
    """Sends a trace of the run to an OTLP collector; no prompts or replies unless asked."""

    endpoint: Annotated[
        str, about("The address for OTLP over HTTP; default: what the OTEL_EXPORTER_OTLP_… variables say.")
    ] = ""
    service: Annotated[str, about("The name of the service.")] = "untilgreen"
    replies: Annotated[bool, about("Whether to send the agent's last words, too.")] = False
    _sender: SpanSender = field(init=False)
    _open: Open | None = field(init=False, default=None)
    """The last lap that was started and not judged."""

    def __post_init__(self) -> None:
        """Load the SDK, which is an extra."""
        try:
            from untilgreen.notify.span_sender import SpanSender  # noqa: PLC0415 - an extra
        except ModuleNotFoundError as error:
            raise ConfigError(
                f"The notifier 'traces' needs {error.name}. Install it with: {EXTRA}"
            ) from error
        self._sender = SpanSender(self.endpoint, self.service)

    async def notify(self, event: Event, state: RunState) -> None:
        """Send a span for what has just ended."""
        self.tell(event, state)
        if isinstance(event, RunFinished | Interrupted | Halted | Paused) or state.asked is not None:
            await to_thread.run_sync(self._sender.flush, FLUSH_SECONDS, abandon_on_cancel=True)
        if why := self._sender.trouble:
            raise UntilgreenError(
                f"no spans can be sent to {self._sender.endpoint}: {why}; "
                f"send them later with `untilgreen export --otel {state.run}`"
            )

    def turn_env(self, state: RunState) -> Mapping[str, str]:
        """For the agent: the span that its own spans belong to."""
        from untilgreen.notify.span_sender import traceparent  # noqa: PLC0415 - an extra

        return {"TRACEPARENT": traceparent(state.run, _turn(state.open))} if state.open else {}

    def send_all(self, seconds: float) -> tuple[int, str, str]:
        """Send all spans of a run: how many were sent, where to, and why not all."""
        done = self._sender.flush(seconds)
        return (
            self._sender.sent,
            self._sender.endpoint,
            self._sender.trouble or ("" if done else "it timed out"),
        )

    def tell(self, event: Event, state: RunState) -> None:
        """Make the spans of what has just ended; they are sent in the background."""
        match event:
            case Attached() if state.open is not None and state.open.interrupted:
                self._turn(state.open, state.open.reply or Reply(error="interrupted"), state, event.at)
            case TurnEnded() if state.open is not None:
                self._turn(state.open, event.reply, state, event.at, claim=event.claim)
            case GateChecked():
                self._gate(event, state)
            case Decided():
                self._lap(event, state)
            case RunFinished():
                self._run(event, state)
            case _:
                pass
        if state.open is not None and state.open.offered:
            self._open = state.open

    def _turn(self, lap: Open, reply: Reply, state: RunState, at: float, *, claim: bool = False) -> None:
        agent = lap.agent.partition(":")[0]
        spec = next((each for each in state.plan.agents if each.name == lap.agent), None)
        attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": agent,
            "gen_ai.request.model": spec.options.get("model") if spec else None,
            "gen_ai.conversation.id": reply.session,
            "gen_ai.usage.input_tokens": reply.usage.input_tokens or None,
            "gen_ai.usage.output_tokens": reply.usage.output_tokens or None,
            "gen_ai.usage.cache_read.input_tokens": reply.usage.cached_tokens or None,
            "untilgreen.cost.usd": reply.usage.cost,
            "untilgreen.claim": claim,
            "untilgreen.attempt": lap.attempt,
            "untilgreen.reply": reply.text if self.replies else None,
        }
        self._sender.put(
            state.run,
            _turn(lap),
            name=f"invoke_agent {agent}",
            times=(lap.started or at, at),
            attributes=attributes,
            parent=_lap(lap.number),
            error=reply.error,
            remote=True,
        )

    def _gate(self, event: GateChecked, state: RunState) -> None:
        verdict = event.verdict
        attributes = {
            "gen_ai.evaluation.name": event.gate,
            "gen_ai.evaluation.score.value": verdict.score,
            "gen_ai.evaluation.score.label": verdict.status,
            "untilgreen.gate.findings": verdict.count,
            "untilgreen.gate.flaky": verdict.flaky or None,
        }
        self._sender.put(
            state.run,
            f"gate {event.lap} {event.gate} {event.at}",
            name=f"gate {event.gate}",
            times=(event.at - verdict.duration, event.at),
            attributes=attributes,
            parent=_lap(event.lap),
            error=None if verdict.status in ("pass", "skip") else verdict.status,
        )

    def _lap(self, event: Decided, state: RunState) -> None:
        lap = next((each for each in state.baseline_and_laps if each.number == event.lap), None)
        attributes = {
            "untilgreen.lap": event.lap,
            "untilgreen.score": lap.score if lap else None,
            "untilgreen.decision": type(event.decision).__name__.lower(),
            "untilgreen.decision.reason": event.decision.reason,
            "untilgreen.signals": [f"{each.kind} {each.strength}" for each in event.signals] or None,
        }
        begun = lap.started if lap and lap.started else event.at
        name, self._open = _lap(event.lap), None
        self._sender.put(
            state.run, name, name=name, times=(begun, event.at), attributes=attributes, parent=_RUN
        )

    def _run(self, event: RunFinished, state: RunState) -> None:
        if self._open is not None:
            self._cut_short(self._open, event, state)
        attributes = {
            "gen_ai.operation.name": "invoke_workflow",
            "gen_ai.workflow.name": state.plan.strategy.name,
            "untilgreen.run.id": state.run,
            "untilgreen.outcome": str(event.outcome),
            "untilgreen.reason": event.reason,
            "untilgreen.laps": len(state.laps),
            "untilgreen.cost.usd": state.spent.cost,
        }
        self._sender.put(
            state.run,
            _RUN,
            name="invoke_workflow untilgreen",
            times=(state.started, event.at),
            attributes=attributes,
            error=None if event.outcome.good else str(event.outcome),
        )

    def _cut_short(self, lap: Open, event: RunFinished, state: RunState) -> None:
        """End a lap that was not judged, and its turn if it never ended, so that no span lacks a parent."""
        if lap.reply is None:
            self._turn(lap, Reply(error="interrupted"), state, event.at)
        name = _lap(lap.number)
        self._sender.put(
            state.run,
            name,
            name=name,
            times=(lap.started, event.at),
            attributes={"untilgreen.lap": lap.number, "untilgreen.decision": "none"},
            parent=_RUN,
            error=str(event.outcome),
        )


def _turn(lap: Open) -> str:
    """A lap has one turn, and one more for each time that it had to start over."""
    return f"turn {lap.number} {lap.attempt}"


def _lap(number: int) -> str:
    return f"lap {number}"
