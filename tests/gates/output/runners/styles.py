"""What a project consists of, and the styles that every runner should be captured in."""

from __future__ import annotations

Projects = dict[str, tuple[dict[str, str], dict[str, str]]]
"""For each runner the files of its project, and the command for each style."""

STYLES: dict[str, tuple[str, ...]] = {
    "color": ("color",),
    "quiet": ("quiet", "qq", "silent", "dot", "dots", "min", "terse", "short", "basic", "plain", "failures"),
    "verbose": ("verbose", "spec", "documentation", "testdox", "all", "errors", "threads"),
    "parallel": ("parallel", "threads", "nofailfast"),
    "document": ("json", "junit", "xunit", "tap"),
    "crash": ("exit", "exit0", "panic", "crash", "segfault"),
    "compile": ("syntax", "compile", "types", "build", "configure"),
    "coverage": ("coverage",),
    "none": ("none",),
}
"""The styles that people use, and the names of captures that show them."""


def grid(projects: Projects) -> str:
    """A table of which runner was captured in which style."""
    rows = [f"{'':<10}" + "".join(f"{style:<10}" for style in STYLES)]
    for runner, (_, captured) in projects.items():
        cells = ("x" if any(name in captured for name in names) else "-" for names in STYLES.values())
        rows.append(f"{runner:<10}" + "".join(f"{cell:<10}" for cell in cells))
    return "\n".join(row.rstrip() for row in rows) + "\n"
