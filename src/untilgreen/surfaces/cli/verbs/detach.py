"""A run in the background, driven by a process that survives the terminal."""

from __future__ import annotations

import sys
from functools import partial

import anyio

from untilgreen.core.exit_codes import OK
from untilgreen.engine.driving.launch import DriverEnded, launch, log_of
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.surfaces.cli.options import Place
from untilgreen.surfaces.json.lines import DetachedLine
from untilgreen.surfaces.text.printing import out, out_json, print_problem, version_line
from untilgreen.surfaces.text.safe_text import inert_lines


def start_in_background(folder: FolderRecord, place: Place, *, json: bool, verbose: bool) -> int:
    """Start the driver, wait until it drives, and leave it running."""
    # -P: what an agent left in the directory must not stand in for modules of ours.
    words = [sys.executable, "-P", "-m", "untilgreen", "resume", folder.id, "--no-input"]
    words += ["--state-dir", str(place.store().state_dir)] + (["--verbose"] if verbose else [])
    try:
        pid = anyio.run(partial(launch, folder, words, cwd=place.start))
    except DriverEnded as error:
        print_problem(inert_lines(str(error)))
        return error.code
    if json:
        version_line()
        out_json(DetachedLine(run=folder.id, pid=pid, log=str(log_of(folder))))
        return OK
    out(f"Run {folder.id} is running in the background, process {pid}.")
    out(f"Watch it with: untilgreen follow {folder.id}{place.flags}")
    out(f" Stop it with: untilgreen stop {folder.id}{place.flags}")
    out(f"Log: {log_of(folder)}")
    return OK
