"""A spec for a project that has none, as text that a person reads before it is written."""

from __future__ import annotations

from collections.abc import Sequence

import tomlkit

from untilgreen.config.detect import Detected

_SCHEMA_NOTE = (
    "# Everything that can be said here: untilgreen schema spec; what holds: untilgreen config show --sources"
)


def draft(gates: Sequence[Detected], others: Sequence[Detected], agents: Sequence[str]) -> str:
    """The whole file; what could not be seen stands in it as a comment."""
    blocks = [_head(agents), _limits()]
    blocks += [_gate(gate) for gate in gates] or [_no_gate()]
    if others:
        also = ", ".join(f"{each.run!r} ({each.seen})" for each in others)
        blocks.append(f"# Also seen: {also}.")
    return "\n".join(blocks)


def _head(agents: Sequence[str]) -> str:
    lines = [_SCHEMA_NOTE, '# task = "Make the tests pass"    # or on the command line: untilgreen run "…"']
    if agents:
        lines.append(f"agent = {_text(agents[0])}")
        if len(agents) > 1:
            lines.append(
                f"# agents = [{', '.join(map(_text, agents))}]    # to fall back, one after the other"
            )
    else:
        lines.append('# agent = "cmd:./my-agent.sh"    # no agent was found; see `untilgreen plugins`')
    return "\n".join([*lines, ""])


def _limits() -> str:
    return '[limits]\niterations = 20\ntime = "4h"\n# cost = "$5"\n'


def _gate(gate: Detected) -> str:
    stage = f"stage = {gate.stage}\n" if gate.stage > 1 else ""
    return f"[gates.{gate.name}]    # seen in {gate.seen}\nrun = {_text(gate.run)}\n{stage}"


def _no_gate() -> str:
    return '# No tests, linters or builds were found. Name your own:\n# [gates.tests]\n# run = "make test"\n'


def _text(value: str) -> str:
    return str(tomlkit.item(value).as_string())
