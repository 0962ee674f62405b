"""A real receiver of OTLP over HTTP on the loopback."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Receiver:
    """Collects the spans that arrive."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.status = 200
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                receiver.take(
                    self.rfile.read(int(self.headers["Content-Length"])), self.headers["Content-Encoding"]
                )
                self.send_response(receiver.status)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                """Log nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1/traces"

    def take(self, data: bytes, encoding: str | None) -> None:
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

        asked = ExportTraceServiceRequest.FromString(gzip.decompress(data) if encoding == "gzip" else data)
        if self.status == 200:
            self.spans += [
                span
                for resource in asked.resource_spans
                for scope in resource.scope_spans
                for span in scope.spans
            ]

    @property
    def orphans(self) -> list[str]:
        """Spans whose parent never arrived."""
        ids = {span.span_id for span in self.spans}
        return [span.name for span in self.spans if span.parent_span_id not in {*ids, b""}]

    def named(self, name: str) -> list[Any]:
        return [span for span in self.spans if span.name == name]

    def tree(self) -> str:
        """The spans as an indented tree, in the order in which they began."""

        def lines(parent: bytes, depth: int) -> Iterator[str]:
            below = [span for span in self.spans if span.parent_span_id == parent]
            for span in sorted(below, key=lambda each: (each.start_time_unix_nano, each.end_time_unix_nano)):
                told = {name: value for name, value in attributes(span).items() if name not in UNSTABLE}
                failed = ["ERROR"] if span.status.code == 2 else []
                yield "  " * depth + "  ".join(
                    [span.name, *failed, *(f"{name}={value}" for name, value in told.items())]
                )
                yield from lines(span.span_id, depth + 1)

        return "\n".join(lines(b"", 0)) + "\n"


UNSTABLE = {"untilgreen.run.id", "gen_ai.operation.name", "gen_ai.agent.name", "gen_ai.evaluation.name"}


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()
    thread = threading.Thread(target=receiver.server.serve_forever, daemon=True)
    thread.start()
    yield receiver
    receiver.server.shutdown()
    receiver.server.server_close()
    thread.join()


def attributes(span: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in span.attributes}
