"""How `--help` is laid out: two columns, no boxes, as wide as the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from untilgreen.surfaces.text.safe_text import folded

if TYPE_CHECKING:
    from cyclopts.help import HelpEntry, HelpPanel
    from rich.console import Console, ConsoleOptions

WIDEST = 100
"""Columns that a line takes at most; longer lines are hard to read."""
LEFT = 24
"""Columns for the names of flags; a longer name has its text on the next line."""
INDENT = 2


class Layout:
    """A formatter for cyclopts."""

    def __call__(self, console: Console, options: ConsoleOptions, panel: HelpPanel) -> None:
        """One group of verbs or flags."""
        if not panel.entries:
            return
        lines = [f"{panel.title}:"] if panel.title else []
        width = min(console.width, WIDEST)
        rows = [(_names(entry), _text(entry)) for entry in panel.entries]
        lines += columns(rows, width)
        _write(console, [*lines, ""])

    def render_usage(self, console: Console, options: ConsoleOptions, usage: Any) -> None:
        """How the command is written."""
        _write(console, [f"Usage: {_plain(usage).removeprefix('Usage: ')}", ""] if usage else [])

    def render_description(self, console: Console, options: ConsoleOptions, description: Any) -> None:
        """What the command does."""
        text = _plain(description)
        width = min(console.width, WIDEST)
        lines = [line for each in text.split("\n") for line in folded(each, width)]
        _write(console, [*lines, ""] if text else [])


def columns(rows: list[tuple[str, str]], width: int) -> list[str]:
    """Names on the left, what they mean on the right."""
    left = min(LEFT, max(len(name) for name, _ in rows) + 2)
    lines: list[str] = []
    for name, text in rows:
        first, *rest = folded(text, max(20, width - left - INDENT))
        begin = f"{'':{INDENT}}{name:{left}}"
        if len(name) + 2 > left:
            lines.append(f"{'':{INDENT}}{name}")
            begin = " " * (left + INDENT)
        lines += [f"{begin}{first}".rstrip(), *(f"{'':{left + INDENT}}{line}" for line in rest)]
    return lines


def _names(entry: HelpEntry) -> str:
    short = ", ".join((*entry.positive_shorts, *entry.positive_names))
    if entry.positional_label:
        return entry.positional_label
    return f"{short} {entry.metavar}" if entry.metavar else short


def _text(entry: HelpEntry) -> str:
    choices = f" ({', '.join(entry.choices)})" if entry.choices else ""
    return f"{_plain(entry.description)}{choices}".strip()


def _plain(text: Any) -> str:
    if text is None:
        return ""
    if hasattr(text, "plain"):
        return str(text.plain).strip()
    from rich.console import Console

    console = Console(width=10_000, force_terminal=False, no_color=True)
    with console.capture() as capture:
        console.print(text, end="", highlight=False, markup=False)
    return "\n".join(line.rstrip() for line in capture.get().strip().splitlines())


def _write(console: Console, lines: list[str]) -> None:
    for line in lines:
        console.print(line, highlight=False, markup=False, soft_wrap=True)
