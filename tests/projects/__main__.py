"""Play every story on real packages: `python -m tests.projects [NAME|STORY...]`, and print a table."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from tests.projects.catalog import PROJECTS, Project
from tests.projects.prepare import checkout
from tests.projects.stories import STORIES, tell

WIDTH = 17


def main(words: list[str]) -> int:
    """Play the named stories on the named projects; without names, all stories on all projects."""
    by_name = {project.name: project for project in PROJECTS}
    unknown = set(words) - {*by_name, *STORIES}
    if unknown:
        known = ", ".join([*by_name, *STORIES])
        print(f"Unknown names: {', '.join(sorted(unknown))}. Known are: {known}.", file=sys.stderr)
        return 2
    projects = [by_name[word] for word in words if word in by_name] or list(PROJECTS)
    stories = [word for word in words if word in STORIES] or list(STORIES)
    print(f"{'project':<24}" + "".join(f"{story:<{WIDTH}}" for story in stories) + "seconds")
    bad = [each for project in projects for each in play(project, stories)]
    print(f"{len(bad)} faults." if bad else "Every story ended as expected.")
    return 1 if bad else 0


def play(project: Project, stories: list[str]) -> list[str]:
    """Print one row of the table, and below it the faults."""
    started = time.monotonic()
    bad: list[str] = []
    with tempfile.TemporaryDirectory(prefix="untilgreen-projects-") as folder:
        shipped = checkout(project, Path(folder) / "shipped")
        print(f"{project.name + ' ' + project.version:<24}", end="", flush=True)
        for story in stories:
            wrong = tell(project, shipped, story)
            print(f"{'BAD' if wrong else 'ok':<{WIDTH}}", end="", flush=True)
            bad += [f"{project.name}, {story}: {each}" for each in wrong]
    print(f"{time.monotonic() - started:.0f}", *bad, sep="\n  ", flush=True)
    return bad


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
