"""A Python client for `untilgreen serve`: the same operations, types and messages.

with Client.local() as client:
    for run in client.list_runs(status="waiting").runs:
        print(run.run, run.waiting)
"""

from __future__ import annotations

import http.client
import secrets
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar
from urllib.parse import quote, urlencode, urlsplit

import msgspec
from msgspec import Struct

from untilgreen.errors import UserError
from untilgreen.state_dir import state_dir
from untilgreen.surfaces.json.lines import EventLine
from untilgreen.surfaces.web.api import requests, values
from untilgreen.surfaces.web.api.operations import PREFIX
from untilgreen.surfaces.why.evidence import Reasons

PORT = 7878
T = TypeVar("T")


class ServerRefused(UserError):
    """The server refused a request; the message is the server's own."""

    def __init__(self, problem: requests.Problem) -> None:
        super().__init__(problem.detail or problem.title)
        self.status = problem.status


class Client:
    """A client for one server; not thread-safe."""

    def __init__(self, url: str, token: str = "", *, timeout: float = 60.0) -> None:
        """`url` may be the address that the server printed, with the token in its fragment."""
        parts = urlsplit(url)
        self._parts = parts
        self._connection = self._connect(timeout)
        self._headers = {"Authorization": f"Bearer {token or parts.fragment}", "Host": parts.netloc}

    @classmethod
    def local(cls, port: int = PORT, folder: Path | None = None) -> Client:
        """A client for the server on this machine, with the token from the state directory."""
        path = (folder or Path(state_dir())) / f"serve-{port}.token"
        try:
            token = path.read_text(encoding="ascii").strip()
        except OSError as error:
            raise UserError(
                f"No server listens on port {port}. Start one with `untilgreen serve`."
            ) from error
        return cls(f"http://127.0.0.1:{port}", token)

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._connection.close()

    def list_runs(self, **filters: Any) -> values.RunsPage:
        """Runs, newest first; the filters are the fields of `requests.Page`."""
        return self._get("/runs", values.RunsPage, filters)

    def show_run(self, run: str) -> values.RunView:
        """One run: everything but its laps."""
        return self._get(f"/runs/{quote(run)}", values.RunView)

    def course(self, run: str) -> values.Course:
        """Scores, findings, cost and verdicts of every lap."""
        return self._get(f"/runs/{quote(run)}/progress", values.Course)

    def why(self, run: str) -> Reasons:
        """The evidence for the last decision."""
        return self._get(f"/runs/{quote(run)}/why", Reasons)

    def show_lap(self, run: str, lap: int) -> values.LapPage:
        """Brief, reply, verdicts and diff of one lap."""
        return self._get(f"/runs/{quote(run)}/laps/{lap}", values.LapPage)

    def inbox(self) -> values.Inbox:
        """Every open question of every run."""
        return self._get("/inbox", values.Inbox)

    def answer(
        self, run: str, choice: str, *, question: str = "", note: str = "", argument: str | None = None
    ) -> requests.Done:
        """Answer a run's question; with the question's id, it is refused if that is no longer open."""
        body = requests.AnswerBody(choice=choice, question=question, note=note, argument=argument)
        return self._post(f"/runs/{quote(run)}/answer", body, requests.Done)

    def steer(self, run: str, note: str) -> requests.Done:
        """Leave a note for the agent's next brief."""
        return self._post(f"/runs/{quote(run)}/steer", requests.Note(note=note), requests.Done)

    def control(self, run: str, verb: str, reason: str = "") -> requests.Done:
        """`pause`, `resume`, `stop` or `cancel` a run."""
        return self._post(f"/runs/{quote(run)}/{quote(verb)}", requests.Reason(reason=reason), requests.Done)

    def plan(self, new: requests.NewRun) -> values.Planned:
        """What a run would do and could cost, and what has to be trusted first."""
        return self._post("/plan", new, values.Planned)

    def start_run(self, new: requests.NewRun) -> requests.Done:
        """Start a run within the server's roots."""
        return self._post("/runs", new, requests.Done)

    def restore(self, run: str, lap: int) -> values.Restored:
        """Bring back the files of a lap, within the server's roots."""
        return self._post(f"/runs/{quote(run)}/restore", requests.RestoreLap(lap=lap), values.Restored)

    def apply(self, run: str, what: requests.ApplyRun | None = None) -> values.Applied:
        """Merge the result of a run into the user's files, within the server's roots."""
        return self._post(f"/runs/{quote(run)}/apply", what or requests.ApplyRun(), values.Applied)

    def compare(self, *runs: str) -> values.Comparison:
        """Several runs side by side."""
        return self._get("/compare", values.Comparison, {"runs": ",".join(runs)})

    def backtest(self, strategies: str = "", workspace: str = "") -> values.Backtest:
        """Your own runs, replayed with other strategies."""
        query = {"strategies": strategies, "workspace": workspace}
        return self._get("/backtest", values.Backtest, query)

    def plugins(self) -> values.Plugins:
        """Everything that a spec can name."""
        return self._get("/plugins", values.Plugins)

    def doctor(self) -> values.Checkup:
        """What a run needs on the server's machine, and whether it is there."""
        return self._get("/doctor", values.Checkup)

    def fork(self, run: str, fork: requests.ForkRun) -> requests.Done:
        """Start another run from the files of a lap."""
        return self._post(f"/runs/{quote(run)}/fork", fork, requests.Done)

    def report(self, run: str, form: str = "html") -> bytes:
        """A report: html, md, json, junit or text."""
        return self._data("GET", f"/runs/{quote(run)}/report?{urlencode({'format': form})}", None)

    def metrics(self) -> str:
        """Counts for Prometheus."""
        return self._data("GET", "/metrics", None).decode()

    def follow(self, run: str, after: int = 0) -> Iterator[tuple[int, EventLine]]:
        """Each event with its position, until the run ends; `after` continues after a position."""
        connection = self._connect(None)
        try:
            headers = {**self._headers, "Last-Event-ID": str(after)}
            connection.request("GET", f"{PREFIX}/runs/{quote(run)}/events", headers=headers)
            answer = connection.getresponse()
            if answer.status != 200:
                raise ServerRefused(_problem(answer.status, answer.read()))
            yield from _events(answer)
        finally:
            connection.close()

    def _connect(self, timeout: float | None) -> http.client.HTTPConnection:
        secure = self._parts.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        return kind(self._parts.hostname or "127.0.0.1", self._parts.port, timeout=timeout)

    def _get(self, path: str, kind: type[T], query: dict[str, Any] | None = None) -> T:
        return self._ask("GET", f"{path}?{urlencode(query)}" if query else path, None, kind)

    def _post(self, path: str, body: Struct, kind: type[T]) -> T:
        return self._ask("POST", path, msgspec.json.encode(body), kind)

    def _ask(self, method: str, path: str, body: bytes | None, kind: type[T]) -> T:
        return msgspec.json.decode(self._data(method, path, body), type=kind)

    def _data(self, method: str, path: str, body: bytes | None) -> bytes:
        headers = dict(self._headers)
        if body is not None:
            headers |= {"Content-Type": "application/json", "Idempotency-Key": secrets.token_hex(16)}
        try:
            self._connection.request(method, PREFIX + path, body=body, headers=headers)
            answer = self._connection.getresponse()
            data = answer.read()
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            raise UserError(f"The server can't be reached: {error}. Check that it is running.") from error
        if answer.status != 200:
            raise ServerRefused(_problem(answer.status, data))
        return data


def _problem(status: int, data: bytes) -> requests.Problem:
    try:
        return msgspec.json.decode(data, type=requests.Problem)
    except msgspec.DecodeError:
        return requests.Problem(title=f"The server answered {status}.", status=status)


def _events(answer: http.client.HTTPResponse) -> Iterator[tuple[int, EventLine]]:
    position, data = 0, b""
    for line in answer:
        name, _, value = line.rstrip(b"\n").partition(b": ")
        if name == b"id":
            position = int(value)
        elif name == b"data":
            data = value
        elif not line.strip() and data not in (b"", b"{}"):
            yield position, msgspec.json.decode(data, type=EventLine)
            data = b""
