"""A scripted agent that speaks the Agent Client Protocol, for tests of clients that drive one.

`python -m untilgreen.testing.acp_agent SCRIPT` plays a JSON file: a list with one entry for each prompt, each
a list of acts. The messages it receives are appended to `SCRIPT.heard`, one per line; its sessions and its
position in the script are kept in `SCRIPT.sessions`, so a later process continues where this one ended.

    {"say": "text"}                   a piece of a message; `"message": "m2"` begins another
    {"write": "a.txt", "content": ""} asks for permission to edit, and writes if granted
    {"run": "pytest -q"}              asks for permission to execute, and runs it if granted; both take
                                      `"as": {"kind": "other", "title": "shell"}` to report another call
    {"refused": "curl x", "why": ""}  a command that its own rules refused, without asking
    {"usage": {"inputTokens": 5}}     the usage of the finished prompt
    {"cost": 0.25}                    the session's cost so far
    {"fail": {"code": -32000, "message": "Authentication required"}}    an error instead of an answer
    {"failure": {"category": "limit", "title": "429"}}                  a typed failure
    {"stop": "refusal"}               another stop reason than end_turn
    {"raw": "text"}                   this line verbatim; with `"newline": false`, without a newline
    {"long": 100000000}               one line of this many characters
    {"call": "fs/write_text_file"}    sends the client another request
    {"child": "sleep 60"}             starts a command in the background
    {"modeless": true}                its session modes can't be set
    {"hang": true} {"die": 3} {"deaf": true}                            goes silent, exits, ignores signals
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

Message = dict[str, Any]
_PIECE = 1_000_000


class ScriptedAcpAgent:
    """Plays one script to one client."""

    def __init__(self, script: Path) -> None:
        self.script = script
        self.acts: list[list[Message]] = json.loads(script.read_text())
        self.kept = script.with_suffix(".sessions")
        state: Message = (
            json.loads(self.kept.read_text()) if self.kept.exists() else {"sessions": [], "played": 0}
        )
        self.sessions: list[str] = state["sessions"]
        self.played: int = state["played"]
        self.asked = 0

    def serve(self) -> int:
        """Answer until the client closes our input."""
        for line in sys.stdin:
            message = self._hear(line)
            if (method := message.get("method")) and "id" in message:
                getattr(self, "_" + method.replace("/", "_"), self._unknown)(message)
        return 0

    def _hear(self, line: str) -> Message:
        with self.script.with_suffix(".heard").open("a") as heard:
            heard.write(line)
        message: Message = json.loads(line)
        return message

    def _send(self, message: Message) -> None:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()

    def _answer(self, message: Message, result: Message) -> None:
        self._send({"id": message["id"], "result": result})

    def _unknown(self, message: Message) -> None:
        self._send({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})

    def _initialize(self, message: Message) -> None:
        can = {"loadSession": True, "sessionCapabilities": {"resume": {}}}
        self._answer(message, {"protocolVersion": 1, "agentCapabilities": can})

    def _session_new(self, message: Message) -> None:
        self.sessions.append(f"s{len(self.sessions) + 1}")
        self._keep()
        self._answer(message, {"sessionId": self.sessions[-1]})

    def _session_resume(self, message: Message) -> None:
        if message["params"]["sessionId"] in self.sessions:
            self._answer(message, {})
        else:
            self._send({"id": message["id"], "error": {"code": -32002, "message": "no such session"}})

    def _session_set_mode(self, message: Message) -> None:
        if any("modeless" in act for acts in self.acts for act in acts):
            self._unknown(message)
        else:
            self._answer(message, {})

    def _session_prompt(self, message: Message) -> None:
        acts = self.acts[min(self.played, len(self.acts) - 1)]
        self.played += 1
        self._keep()
        session = message["params"]["sessionId"]
        result: Message = {"stopReason": "end_turn"}
        for act in acts:
            if "fail" in act:
                self._send({"id": message["id"], "error": act["fail"]})
                return
            if "usage" in act:
                result["usage"] = act["usage"]
            elif "stop" in act:
                result["stopReason"] = act["stop"]
            elif "failure" in act:
                result["_meta"] = {
                    "jetbrains": {"air": {"sessionFailure": act["failure"] | {"severity": "error"}}}
                }
            elif not self._act(act, session):
                result["stopReason"] = "cancelled"
                break
        self._answer(message, result)

    def _act(self, act: Message, session: str) -> bool:
        """Perform one act; returns whether the turn continues."""
        if "say" in act:
            piece = {"content": {"type": "text", "text": act["say"]}, "messageId": act.get("message")}
            self._update(session, "agent_message_chunk", piece)
        elif "cost" in act:
            self._update(session, "usage_update", {"cost": {"amount": act["cost"], "currency": "USD"}})
        elif "write" in act:
            call: Message = {
                "kind": "edit",
                "title": f"Write {act['write']}",
                "locations": [{"path": act["write"]}],
            }
            if self._permitted(session, call | act.get("as", {})):
                Path(act["write"]).write_text(act["content"])
        elif "run" in act:
            call = {"kind": "execute", "title": f"`{act['run']}`", "rawInput": {"command": act["run"]}}
            if self._permitted(session, call | act.get("as", {})):
                subprocess.Popen(act["run"], shell=True, stdout=subprocess.DEVNULL).wait()
        elif "refused" in act:
            why = [{"type": "content", "content": {"type": "text", "text": act["why"]}}]
            call = {"toolCallId": "r1", "kind": "execute", "title": act["refused"], "status": "failed"}
            self._update(session, "tool_call_update", {**call, "content": why})
        elif "call" in act:
            self._request(act["call"], {"sessionId": session})
        elif "raw" in act:
            sys.stdout.write(act["raw"] + ("\n" if act.get("newline", True) else ""))
            sys.stdout.flush()
        else:
            return self._misbehave(act)
        return True

    def _misbehave(self, act: Message) -> bool:
        if "long" in act:
            for start in range(0, act["long"], _PIECE):
                sys.stdout.write("x" * min(_PIECE, act["long"] - start))
            sys.stdout.write("\n")
            sys.stdout.flush()
        elif "child" in act:
            subprocess.Popen(act["child"], shell=True, start_new_session=True)
        elif "deaf" in act:
            for each in (signal.SIGINT, signal.SIGTERM):
                signal.signal(each, signal.SIG_IGN)
        elif "die" in act:
            sys.exit(act["die"])
        elif "hang" in act:
            for line in sys.stdin:
                if self._hear(line).get("method") == "session/cancel":
                    return False
            sys.exit(0)
        return True

    def _permitted(self, session: str, call: Message) -> bool:
        self.asked += 1
        call = {"toolCallId": f"c{self.asked}", **call}
        self._update(session, "tool_call", {"status": "pending", **call})
        options = [
            {"optionId": f"{kind}-{self.asked}", "kind": kind, "name": kind}
            for kind in ("allow_always", "allow_once", "reject_once")
        ]
        params = {"sessionId": session, "toolCall": call, "options": options}
        answer = self._request("session/request_permission", params)
        return str(answer.get("result", {}).get("outcome", {}).get("optionId", "")).startswith("allow")

    def _request(self, method: str, params: Message) -> Message:
        number = f"ask-{self.asked}"
        self._send({"id": number, "method": method, "params": params})
        for line in sys.stdin:
            if (message := self._hear(line)).get("id") == number:
                return message
        sys.exit(0)

    def _update(self, session: str, kind: str, update: Message) -> None:
        params = {"sessionId": session, "update": {"sessionUpdate": kind, **update}}
        self._send({"method": "session/update", "params": params})

    def _keep(self) -> None:
        self.kept.write_text(json.dumps({"sessions": self.sessions, "played": self.played}))


if __name__ == "__main__":
    sys.exit(ScriptedAcpAgent(Path(sys.argv[1])).serve())
