"""The text of a first spec, which `init` shows before it writes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import tomlkit

from untilgreen.config.init.detect import Detected

_SCHEMA_NOTE = "# All keys: untilgreen help spec. Values now: untilgreen config show --sources"


def draft(
    gates: Sequence[Detected],
    others: Sequence[Detected],
    agents: Sequence[str],
    task: str = "",
    remarks: Mapping[str, str] | None = None,
) -> str:
    """The whole file; what could not be detected is in it as a comment, and so are remarks on gates."""
    blocks = [_head(agents, task), _limits()]
    blocks += [_gate(gate, (remarks or {}).get(gate.name, "")) for gate in gates] or [_no_gate()]
    if others:
        also = ", ".join(f"{each.run!r} ({each.seen})" for each in others)
        blocks.append(f"# Also seen: {also}.")
    return "\n".join(blocks)


def _head(agents: Sequence[str], task: str) -> str:
    example = '# task = "Make the tests pass"    # or on the command line: untilgreen run "…"'
    lines = [_SCHEMA_NOTE, f"task = {_text(task)}" if task else example]
    if agents:
        lines.append(f"agent = {_text(agents[0])}")
        if len(agents) > 1:
            lines.append(f"# agents = [{', '.join(map(_text, agents))}]    # fall back from one to the next")
    else:
        lines.append('# agent = "cmd:./my-agent.sh"    # no agent was found; see `untilgreen plugins`')
    return "\n".join([*lines, ""])


def _limits() -> str:
    return '[limits]\niterations = 20\ntime = "4h"\n# cost = "$5"\n'


def _gate(gate: Detected, remark: str) -> str:
    stage = f"stage = {gate.stage}\n" if gate.stage > 1 else ""
    said = f"# Tried once: {remark}.\n" if remark else ""
    seen = f"    # seen in {gate.seen}" if gate.seen else ""
    return f"[gates.{gate.name}]{seen}\n{said}run = {_text(gate.run)}\n{stage}"


def _no_gate() -> str:
    return '# No tests, linters or builds were found. Name your own:\n# [gates.tests]\n# run = "make test"\n'


def _text(value: str) -> str:
    return str(tomlkit.item(value).as_string())
