"""Sends spans to an OpenTelemetry collector, with stable ids, in a thread.

The thread sends spans at once, so a killed driver loses almost nothing, and a collector that is down delays
nobody. Failures are reported as a sentence, never printed.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import SpanKind, Status, StatusCode

SEND_SECONDS = 5
"""How long one attempt to send, with its retries, may take."""
MOST_AT_ONCE = 500
MOST_WAITING = 20_000
_EXPORTER = "opentelemetry.exporter.otlp.proto.http.trace_exporter"


class SpanSender:
    """Makes spans whose ids are derived from what they stand for, and sends them."""

    def __init__(self, endpoint: str, service: str) -> None:
        """Without an endpoint the usual variables of OpenTelemetry decide."""
        self._exporter = OTLPSpanExporter(endpoint=endpoint or None, timeout=SEND_SECONDS)
        self._said = _Said()
        self._ids = _Ids()
        self._queue = _Queue(self._export)
        provider = TracerProvider(
            resource=Resource.create({"service.name": service}),
            id_generator=self._ids,
            shutdown_on_exit=False,
        )
        provider.add_span_processor(self._queue)
        self._tracer = provider.get_tracer("untilgreen")
        self.sent = 0
        self.trouble = ""
        """Why the last attempt to send spans failed."""

    @property
    def endpoint(self) -> str:
        """The address that spans are sent to."""
        return str(self._exporter._endpoint)

    def put(
        self,
        run: str,
        what: str,
        *,
        name: str,
        times: tuple[float, float],
        attributes: Mapping[str, Any],
        parent: str | None = None,
        error: str | None = None,
        remote: bool = False,
    ) -> None:
        """Send a finished span; `what` and `parent` identify it and its parent within the run."""
        self._ids.run, self._ids.what = run, what
        span = self._tracer.start_span(
            name,
            context=_context(run, parent) if parent else trace.set_span_in_context(trace.INVALID_SPAN),
            kind=SpanKind.CLIENT if remote else SpanKind.INTERNAL,
            start_time=_nanoseconds(times[0]),
            attributes={key: value for key, value in attributes.items() if value is not None},
        )
        if error:
            span.set_status(Status(StatusCode.ERROR, error))
            span.set_attribute("error.type", error)
        span.end(_nanoseconds(max(times)))

    def flush(self, seconds: float) -> bool:
        """Wait until everything was sent or tried, up to this time."""
        return self._queue.flush(seconds)

    def _export(self, spans: Sequence[ReadableSpan]) -> None:
        with self._said:
            done = self._exporter.export(spans) is SpanExportResult.SUCCESS
        if done:
            self.sent += len(spans)
        self.trouble = "" if done else self._said.last or "they were not accepted"


def traceparent(run: str, what: str) -> str:
    """The `traceparent` for a program that adds its own spans below one of ours."""
    return f"00-{_number(run, 16):032x}-{_number(f'{run} {what}', 8):016x}-01"


class _Queue(SpanProcessor):  # type: ignore[misc] # an extra, which may not be installed
    """Hands ended spans to its own thread."""

    def __init__(self, export: Any) -> None:
        self._export = export
        self._waiting: deque[ReadableSpan] = deque(maxlen=MOST_WAITING)
        self._news = threading.Condition()
        self._busy = False
        self._thread: threading.Thread | None = None

    def on_end(self, span: ReadableSpan) -> None:
        with self._news:
            self._waiting.append(span)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="untilgreen-traces", daemon=True)
                self._thread.start()
            self._news.notify_all()

    def flush(self, seconds: float) -> bool:
        with self._news:
            return self._news.wait_for(lambda: not self._waiting and not self._busy, seconds)

    def _work(self) -> None:
        while True:
            with self._news:
                self._busy = False
                self._news.notify_all()
                self._news.wait_for(lambda: bool(self._waiting))
                count = min(len(self._waiting), MOST_AT_ONCE)
                spans = [self._waiting.popleft() for _ in range(count)]
                self._busy = True
            self._export(spans)


class _Said(logging.Handler):
    """A log handler that catches why the exporter fails; otherwise it would be printed."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.last = ""

    def __enter__(self) -> None:
        self.last = ""
        logging.getLogger(_EXPORTER).addHandler(self)

    def __exit__(self, *_: object) -> None:
        logging.getLogger(_EXPORTER).removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        error = record.args[0] if isinstance(record.args, tuple) and record.args else ""
        text = record.getMessage()
        if "refused" in text:
            self.last = "connection refused"
        elif "code: " in text and isinstance(record.args, tuple):
            self.last = f"it answered {record.args[1]} {record.args[2]}"
        elif not self.last:
            self.last = f"{text} {error}"[:200]


class _Ids(IdGenerator):  # type: ignore[misc] # the same
    """Makes each id a digest of what the span stands for."""

    run = ""
    what = ""

    def generate_trace_id(self) -> int:
        return _number(self.run, 16)

    def generate_span_id(self) -> int:
        return _number(f"{self.run} {self.what}", 8)


def _nanoseconds(seconds: float) -> int:
    return int(seconds * 1e9)


def _number(text: str, size: int) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=size).digest(), "big") or 1


def _context(run: str, what: str) -> Any:
    """The span that another one belongs to; it may not have been sent yet."""
    flags = trace.TraceFlags(trace.TraceFlags.SAMPLED)
    context = trace.SpanContext(
        _number(run, 16), _number(f"{run} {what}", 8), is_remote=False, trace_flags=flags
    )
    return trace.set_span_in_context(trace.NonRecordingSpan(context))
