"""A session as its hooks see it: payloads fed to the real program, answers read as the agent reads them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from tests.surfaces.cli.helpers import COMMAND, PATIENCE_SECONDS, Done, finished
from untilgreen.journal.codec import decode

DONE = "<promise>DONE</promise>"
ID = "0bd2e4a1-5c1f-4c6e-9d3b-2f1f6f0c9a11"


@dataclass(frozen=True)
class Answer:
    """A hook's output and exit code."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> dict[str, Any]:
        """The answer, or {} if there is none; anything but one object on one line fails the test."""
        lines = self.out.splitlines()
        assert len(lines) <= 1, self.out
        answer: dict[str, Any] = json.loads(lines[0]) if lines else {}
        return answer

    @property
    def brief(self) -> str:
        """The brief that keeps the session working; empty if it may stop."""
        blocks = self.said.get("decision") == "block"
        return str(self.said["reason"]) if blocks else ""

    @property
    def toast(self) -> str:
        """The message that the person sees."""
        return str(self.said.get("systemMessage", ""))

    @property
    def context(self) -> str:
        """The text that the hook adds to a prompt for the model."""
        return str(self.said.get("hookSpecificOutput", {}).get("additionalContext", ""))


@dataclass
class Session:
    """One session of an agent in a directory."""

    place: Path
    env: dict[str, str]
    id: str = ID
    agent: str = "claude"
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def other(self, name: str) -> Session:
        """Another session in the same directory."""
        return Session(place=self.place, env=self.env, id=name, agent=self.agent)

    def call(self, *arguments: str) -> Done:
        """Run a command of the program, as a person or the agent would."""
        with Path(os.devnull).open("rb") as nothing:
            return finished(arguments, cwd=self.place, env=self.env, stdin=nothing)

    def start(self, task: str = "make it ok", *flags: str) -> Done:
        """Start a loop; a refusal fails the test."""
        done = self.call("session", "start", task, "--session", self.id, "--agent", self.agent, *flags)
        assert done.code == 0, done
        return done

    def begin(self, event: str, payload: Mapping[str, Any] | bytes, *flags: str) -> subprocess.Popen[bytes]:
        """Start a hook and hand it its payload."""
        process = subprocess.Popen(
            [*COMMAND, "hook", event, "--agent", self.agent, *flags],
            cwd=self.place,
            env={**self.env, "CLAUDECODE": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.started.append(process)
        assert process.stdin is not None
        process.stdin.write(_as_bytes(payload))
        process.stdin.close()
        process.stdin = None
        return process

    def end(self, process: subprocess.Popen[bytes]) -> Answer:
        """Wait for a hook's answer; this times out if a process keeps the hook's output open."""
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
        return Answer(process.returncode, out.decode(), err.decode())

    def hook(self, event: str, payload: Mapping[str, Any] | bytes, *flags: str) -> Answer:
        """Run a hook to its end."""
        with TemporaryFile() as file:
            file.write(_as_bytes(payload))
            file.seek(0)
            words = ("hook", event, "--agent", self.agent, *flags)
            done = finished(words, cwd=self.place, env={**self.env, "CLAUDECODE": "1"}, stdin=file)
        return Answer(done.code, done.out, done.err)

    def payload(self, text: str = "on it", *, active: bool = True, **more: Any) -> dict[str, Any]:
        """The payload that Claude Code sends to its stop hook."""
        return {
            "session_id": self.id,
            "transcript_path": str(self.place / "missing.jsonl"),
            "cwd": str(self.place),
            "permission_mode": "default",
            "hook_event_name": "Stop",
            "stop_hook_active": active,
            "last_assistant_message": text,
            "background_tasks": [],
            **more,
        }

    def stop(self, text: str = "on it", *flags: str, active: bool = True, **more: Any) -> Answer:
        """Run the stop hook, as when the session wants to stop."""
        return self.hook("stop", self.payload(text, active=active, **more), *flags)

    def prompt(self, text: str) -> Answer:
        """Run the prompt hook, as when a person types something."""
        payload = {"session_id": self.id, "cwd": str(self.place), "prompt": text}
        return self.hook("prompt", payload)

    @property
    def runs(self) -> Path:
        return Path(self.env["UNTILGREEN_STATE_DIR"]) / "runs"

    @property
    def journal(self) -> Path:
        """The journal of the newest run."""
        return max(self.runs.iterdir()) / "journal.jsonl"

    def events(self, kind: str) -> list[Any]:
        """The events of one kind in that journal."""
        events, _ = decode(self.journal.read_bytes())
        return [event for event in events if type(event).__name__ == kind]

    def laps(self) -> int:
        """How many laps have ended."""
        return len([event for event in self.events("Decided") if event.lap > 0])

    def state(self) -> dict[str, Any]:
        """The output of `session state --json`."""
        done = self.call("session", "state", "--session", self.id, "--json")
        assert done.code == 0, done
        return done.lines[-1]

    def notes(self) -> list[str]:
        """The names of the notes by which a hook finds a session's run."""
        folder = Path(self.env["UNTILGREEN_STATE_DIR"]) / "sessions"
        return sorted(each.name for each in folder.iterdir()) if folder.exists() else []


def _as_bytes(payload: Mapping[str, Any] | bytes) -> bytes:
    return payload if isinstance(payload, bytes) else json.dumps(payload).encode()
