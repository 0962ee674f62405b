"""Loops inside the real OpenCode, whose sessions live in `opencode serve`."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agents_real.bench import Bench, of, wait_for
from tests.agents_real.clis import PINS
from untilgreen.core.values.events import BriefOffered, LapVoided, Paused, RunFinished, TurnEnded

DONE = "<promise>DONE</promise>"
SLOW = {"text": "This takes its time and goes on and on and on and on.", "chunk_delay": 1.0, "chunk": 4}
GONE = "gone"
PATIENCE = 90.0
pytestmark = [
    pytest.mark.parametrize("agent", ["opencode"], indirect=True),
    pytest.mark.timeout(500),
]


class Server:
    """`opencode serve` with our plugin, and one session in it."""

    def __init__(
        self,
        bench: Bench,
        monkeypatch: pytest.MonkeyPatch,
        *,
        program: str = "",
        seconds: int = 600,
        twice: bool = False,
    ) -> None:
        """`program` is a script to run before ours; with `twice`, the project has the plugin as well."""
        here = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        config = json.loads(os.environ["OPENCODE_CONFIG_CONTENT"])
        config["permission"] = {"edit": "allow", "bash": "allow"}
        variables = {"UNTILGREEN_STATE_DIR": str(bench.state), "PATH": here}
        for name, value in {**variables, "OPENCODE_CONFIG_CONTENT": json.dumps(config)}.items():
            monkeypatch.setenv(name, value)
        _plugin(bench, bench.home / ".config/opencode", "--user", "--deadline", str(seconds))
        if twice:
            _plugin(bench, bench.project / ".opencode", "--project")
        if program:
            _calling(program, bench)
        self._bench, self._log = bench, bench.home / "serve.log"
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                ["opencode", "serve", "--port", "0"], cwd=bench.project, stdout=log, stderr=log
            )
        assert wait_for(lambda: "listening on " in self._log.read_text(), PATIENCE), self._log.read_text()
        self._url = self._log.read_text().partition("listening on ")[2].split()[0]
        self.session = self.ask("POST", "/session", {})["id"]

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Call its API; the status if the call is refused."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(self._url + path, data=data, headers=headers, method=method)
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with direct.open(request, timeout=PATIENCE) as answer:
                text = answer.read()
        except urllib.error.HTTPError as refused:
            return refused.code
        return json.loads(text) if text.strip() else None

    def command(self, name: str, arguments: str = "") -> Any:
        """Send a command, as a person does, and wait for the end of the turn."""
        body = {"command": name, "arguments": arguments}
        return self.ask("POST", f"/session/{self.session}/command", body)

    def says(self, text: str, *, wait: bool = True) -> Any:
        """Send a prompt, as a person does."""
        body = {"parts": [{"type": "text", "text": text}]}
        return self.ask("POST", f"/session/{self.session}/{'message' if wait else 'prompt_async'}", body)

    def until(self, true: Callable[[], Any]) -> None:
        assert wait_for(true, PATIENCE), self._log.read_text()

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(20)


Serve = Callable[..., Server]


def no_download(folder: Path) -> None:
    """Put a stub there for the package that OpenCode would otherwise try to download, for up to a minute."""
    name, version = "@opencode-ai/plugin", PINS["opencode"].version
    package = folder / "node_modules" / name
    package.mkdir(parents=True)
    (package / "package.json").write_text(json.dumps({"name": name, "version": version}))
    (folder / "package.json").write_text(json.dumps({"dependencies": {name: version}}))
    tree = {"": {"dependencies": {name: version}}, f"node_modules/{name}": {"version": version}}
    (folder / "package-lock.json").write_text(json.dumps({"lockfileVersion": 3, "packages": tree}))


def _plugin(bench: Bench, folder: Path, *flags: str) -> None:
    code, said = bench.cli("install", "--yes", "opencode", *flags)
    assert code == 0, said
    no_download(folder)


def _calling(script: str, bench: Bench) -> None:
    """Make the plugin run this script before our program or, if it is GONE, a program that is missing."""
    program = bench.home / "program"
    if script != GONE:
        program.write_text(f'#!/bin/sh\n{script}\nexec untilgreen "$@"\n')
        program.chmod(0o755)
    plugin = bench.home / ".config/opencode/plugin/untilgreen.js"
    text, count = re.subn(r"(?m)^const PROGRAM = .*$", f'const PROGRAM = "{program}"', plugin.read_text())
    assert count == 1
    plugin.write_text(text)


@pytest.fixture
def serve(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    servers: list[Server] = []

    def start(**options: Any) -> Server:
        servers.append(Server(bench, monkeypatch, **options))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def test_a_session_is_kept_going_until_the_gate_is_green_and_the_promise_was_given(
    bench: Bench, serve: Serve
) -> None:
    turns = [
        {"text": "I looked around."},
        {"text": f"All is well.\n\n{DONE}"},
        {"calls": [{"shell": "touch ok"}]},
        {"text": f"Now it is.\n\n{DONE}"},
    ]
    with bench.model(turns) as model:
        server = serve()
        assert server.command("ralph", "x --max-iteration=3") == 500
        assert server.says("/ralph x --max-iteration=3") == 500
        assert model.requests == []

        server.command("ralph", '"make it `ok` $& now" --gate "tests=test -f ok"')
        server.until(lambda: of(RunFinished, bench.journal()))
    events = bench.journal()
    (finished,) = of(RunFinished, events)
    assert (finished.outcome, finished.reason) == ("converged", "all required gates pass in lap 3")
    assert [turn.claim for turn in of(TurnEnded, events)] == [False, True, True]
    assert any("Original task:\nmake it `ok` $& now" in asked.last_user for asked in model.requests)
    assert any("1 of 1 gates are red: tests" in asked.last_user for asked in model.requests)


def test_a_turn_that_is_broken_off_and_a_question_pause_the_loop_and_a_deleted_session_clears_it(
    bench: Bench, serve: Serve
) -> None:
    turns = [SLOW, {"text": "That is a file."}, {"text": "One."}, SLOW, {"text": "Another."}, SLOW]
    with bench.model(turns, side={"text": "A title"}) as model:
        server = serve()
        server.says('/ralph "make it ok" --gate "tests=test -f ok"', wait=False)
        server.until(lambda: any(asked.tools for asked in model.requests))
        time.sleep(2)
        server.ask("POST", f"/session/{server.session}/abort")
        server.until(lambda: of(Paused, bench.journal()))
        assert [event.lap for event in of(LapVoided, bench.journal())] == [1]

        server.says("what is this?")
        assert of(TurnEnded, bench.journal()) == []
        server.command("untilgreen", "go")
        server.until(lambda: len(of(TurnEnded, bench.journal())) == 1)
        server.until(lambda: any("ITERATION 2/" in asked.last_user for asked in model.requests))
        server.says("and this?", wait=False)
        server.until(lambda: len(of(Paused, bench.journal())) == 2)
        assert [event.reason for event in of(Paused, bench.journal())] == ["you took over"] * 2

        server.ask("DELETE", f"/session/{server.session}")
        server.until(lambda: of(RunFinished, bench.journal()))
    (finished,) = of(RunFinished, bench.journal())
    assert (finished.outcome, finished.reason) == ("cancelled", "its session was deleted")


def test_an_error_of_the_model_uses_no_lap_and_counts(bench: Bench, serve: Serve) -> None:
    wrong = {"error": 401, "message": "no such key"}
    with bench.model([wrong, {"text": "One."}, wrong, wrong, wrong, wrong]):
        server = serve()
        server.command("ralph", '"make it ok" --gate "tests=test -f ok"')
        server.until(lambda: of(RunFinished, bench.journal()))
    events = bench.journal()
    turns = of(TurnEnded, events)
    assert [turn.lap for turn in turns if not turn.unused] == [1]
    assert len([turn for turn in turns if turn.unused]) == 4
    assert "no such key" in turns[0].reply.detail
    assert of(RunFinished, events)[0].outcome == "exhausted"


def test_twenty_laps_work(bench: Bench, serve: Serve) -> None:
    (bench.project / "untilgreen.toml").write_text("detectors = []\n")
    turns = [{"text": f"Part {chr(97 + lap) * 3} is looked at."} for lap in range(19)]
    with bench.model([*turns, {"text": f"There.\n\n{DONE}"}]):
        server = serve()
        server.command("ralph", "look at it --max-iterations=25")
        assert wait_for(lambda: of(RunFinished, bench.journal()), 400)
    events = bench.journal()
    assert (of(RunFinished, events)[0].outcome, len(of(TurnEnded, events))) == ("claimed", 20)


def test_a_session_works_as_ever_when_our_program_is_gone(bench: Bench, serve: Serve) -> None:
    with bench.model([{"text": "Hello."}, {"text": "Again."}]):
        server = serve(program=GONE)
        assert server.says("hello")["info"]["finish"] == "stop"
        assert server.says("again")["info"]["finish"] == "stop"


def test_a_child_of_the_hook_that_keeps_its_output_open_does_not_keep_the_answer(
    bench: Bench, serve: Serve
) -> None:
    with bench.model([{"text": "One."}, {"text": f"There.\n\n{DONE}"}]):
        server = serve(program="sleep 600 &")
        server.command("ralph", "look at it")
        server.until(lambda: of(RunFinished, bench.journal()))
    assert [turn.claim for turn in of(TurnEnded, bench.journal())] == [False, True]
    for sleeper in bench.processes("600"):
        sleeper.kill()


def test_a_hook_past_its_time_limit_is_ended_and_the_session_continues(bench: Bench, serve: Serve) -> None:
    hangs = 'test "$2" != idle || exec python3 -c "import time; time.sleep(600)"'
    with bench.model([{"text": "One."}, {"text": "Two."}]):
        server = serve(program=hangs, seconds=20)
        server.command("ralph", "look at it")
        server.until(lambda: bench.processes("time.sleep(600)"))
        server.until(lambda: not bench.processes("time.sleep(600)"))
        assert server.says("what is this?")["info"]["finish"] == "stop"
    assert [event.reason for event in of(Paused, bench.journal())] == ["you took over"]


def test_a_plugin_of_the_user_and_one_of_the_project_give_one_brief(bench: Bench, serve: Serve) -> None:
    with bench.model([{"text": "One."}, {"text": "Two."}, {"text": f"There.\n\n{DONE}"}]) as model:
        server = serve(twice=True)
        assert "they are registered in" in bench.cli("doctor")[1]
        server.command("ralph", "look at it")
        server.until(lambda: of(RunFinished, bench.journal()))
    assert [offer.lap for offer in of(BriefOffered, bench.journal())] == [1, 2, 3]
    assert len([asked for asked in model.requests if asked.tools]) == 3
