"""Traces: one for each run, sent to a real receiver of OTLP over HTTP on the loopback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.notify.otlp_receiver import Receiver, attributes, receiving
from tests.surfaces.cli.helpers import repository
from tests.transcripts import same_as_the_page

pytest.importorskip("opentelemetry.sdk", reason="the extra [otel] is not installed")
pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="the extra [otel] is not installed")

pytestmark = pytest.mark.timeout(90)
LINE = "echo secret-words; echo $TRACEPARENT >> n"
GATE = 'two=test "$(wc -l < n)" -ge 2'


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


class Traced:
    """Runs of the real program in one project, with a collector."""

    def __init__(self, folder: Path, receiver: Receiver) -> None:
        self.project = repository(folder / "project", {"n": ""})
        self.state = folder / "state"
        self.receiver = receiver

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "untilgreen", *arguments, "--state-dir", str(self.state)]

    def __call__(self, *arguments: str, **env: str) -> tuple[int, str]:
        done = subprocess.run(
            self.command(*arguments),
            cwd=self.project,
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    def asked(self, turn: str = LINE, gate: str = GATE, options: str = "", url: str = "") -> list[str]:
        notify = f'notify=[{{use="traces", endpoint="{url or self.receiver.url}"{options}}}]'
        agent = ["--agent", f"cmd:sh -c '{turn}'"]
        return ["run", "two lines", *agent, "--gate", gate, "--no-input", "--set", notify]


@pytest.fixture
def traced(tmp_path: Path, receiver: Receiver) -> Traced:
    return Traced(tmp_path, receiver)


def known(receiver: Receiver) -> list[tuple[Any, ...]]:
    return sorted(
        (
            each.trace_id,
            each.span_id,
            each.parent_span_id,
            each.name,
            each.start_time_unix_nano,
            each.end_time_unix_nano,
        )
        for each in receiver.spans
    )


def test_a_run_is_one_trace_of_laps_turns_and_gates(traced: Traced, receiver: Receiver) -> None:
    code, said = traced(*traced.asked())

    assert code == 0, said
    assert len({span.trace_id for span in receiver.spans}) == 1
    assert len({span.span_id for span in receiver.spans}) == len(receiver.spans)
    (whole,) = (span for span in receiver.spans if not span.parent_span_id)
    assert attributes(whole)["untilgreen.outcome"] == "converged"
    assert receiver.orphans == []
    assert all(whole.start_time_unix_nano <= span.start_time_unix_nano for span in receiver.spans)
    assert all(span.start_time_unix_nano <= span.end_time_unix_nano for span in receiver.spans)
    assert "secret-words" not in str(receiver.spans)
    same_as_the_page("traces.md", "a run", receiver.tree())


def test_the_agent_is_told_which_span_its_own_spans_belong_to(traced: Traced, receiver: Receiver) -> None:
    traced(*traced.asked())

    turns = [(each.trace_id.hex(), each.span_id.hex()) for each in receiver.named("invoke_agent cmd")]
    told = (traced.project / "n").read_text().split()
    assert told == [f"00-{trace}-{span}-01" for trace, span in turns]
    assert len(set(told)) == 2


def test_last_words_are_sent_where_they_are_asked_for(traced: Traced, receiver: Receiver) -> None:
    traced(*traced.asked(options=", replies=true"))

    assert [attributes(each)["untilgreen.reply"] for each in receiver.named("invoke_agent cmd")] == [
        "secret-words\n",
        "secret-words\n",
    ]


def test_a_driver_that_continues_after_a_crash_continues_the_trace(
    traced: Traced, receiver: Receiver
) -> None:
    code, said = traced(*traced.asked(), UNTILGREEN_CRASH_AT="append:after:TurnEnded#2")
    assert code == -signal.SIGKILL, said
    before = len(receiver.spans)
    assert receiver.named("lap 1")
    assert not receiver.named("invoke_workflow untilgreen")

    code, said = traced("resume", "--no-input")

    assert code == 0, said
    assert len(receiver.spans) > before
    assert len({span.trace_id for span in receiver.spans}) == 1
    assert len({span.span_id for span in receiver.spans}) == len(receiver.spans)
    assert len(receiver.named("invoke_workflow untilgreen")) == 1
    assert receiver.orphans == []


def test_a_turn_that_was_cut_off_by_a_crash_has_its_span(traced: Traced, receiver: Receiver) -> None:
    code, said = traced(*traced.asked(), UNTILGREEN_CRASH_AT="append:after:BriefOffered#2")
    assert code == -signal.SIGKILL, said

    traced("resume", "--no-input")

    told = [
        (attributes(each).get("error.type"), attributes(each)["untilgreen.attempt"])
        for each in receiver.named("invoke_agent cmd")
    ]
    assert (None, 1) in told
    assert ("interrupted", 1) in told
    assert (None, 2) in told
    assert receiver.orphans == []


def test_a_cancelled_run_leaves_no_span_without_its_parent(traced: Traced, receiver: Receiver) -> None:
    started = subprocess.Popen(
        traced.command(*traced.asked(turn="echo x >> n; sleep 600", gate="false")),
        cwd=traced.project,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while not (traced.project / "n").read_text() and time.monotonic() < deadline:
        time.sleep(0.05)
    code, said = traced("cancel", "@last")
    started.wait(60)

    assert code == 0, said
    assert receiver.named("invoke_workflow untilgreen")
    assert receiver.named("invoke_agent cmd")
    assert receiver.named("lap 1")
    assert receiver.orphans == []


def test_a_collector_that_is_down_stops_nothing_and_is_reported_once(
    traced: Traced, receiver: Receiver
) -> None:
    receiver.status = 403
    code, said = traced(*traced.asked())

    assert code == 0, said
    assert said.count("no spans can be sent") == 1
    assert "it answered 403 Forbidden" in said
    assert "Traceback" not in said
    assert "batch" not in said
    run = said.partition("untilgreen export --otel ")[2].partition("`")[0]

    receiver.status = 200
    code, said = traced("export", "--otel", run, "--endpoint", receiver.url)
    assert (code, receiver.orphans) == (0, []), said
    assert f"Sent {len(receiver.spans)} spans of run {run} to {receiver.url}" in said


def test_an_old_journal_makes_the_same_trace(traced: Traced, receiver: Receiver) -> None:
    traced(*traced.asked())
    live = known(receiver)
    receiver.spans.clear()

    code, said = traced(
        "export", "--otel", OTEL_EXPORTER_OTLP_ENDPOINT=receiver.url.removesuffix("/v1/traces")
    )

    assert code == 0, said
    assert known(receiver) == live


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("export",), "untilgreen export --otel RUN"),
        (("export", "--otel", "--endpoint", "http://127.0.0.1:9/v1/traces"), "connection refused"),
        (("export", "--otel", "nope"), "nope"),
    ],
)
def test_an_export_that_fails_says_why(traced: Traced, arguments: tuple[str, ...], sentence: str) -> None:
    traced("run", "x", "--agent", "cmd:true", "--gate", "true", "--no-input")

    code, said = traced(*arguments)

    assert code == 2
    assert sentence in said
    assert "Traceback" not in said
