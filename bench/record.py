"""Record what an agent does when nothing stops it, so that stop rules can be measured on the recording.

    python bench/record.py TASKS --agent claude:opus --out runs.jsonl [--laps 20] [--source NAME]

TASKS has one JSON object per line: `id`, `task`, `gate` (a command) and `folder` (copied for each run). No
detector and no strategy ends a run: only green gates, or the number of laps. Each run becomes one line in the
format of `untilgreen backtest --trajectories`, with its `agent`. Left out: the tool calls within a turn, and
the parts of outputs that a journal doesn't keep. Without arguments it records a scripted agent on a small
task, and fails if the recording can't be played back with the laps of the journal.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from untilgreen.backtest.trajectories import lines, parse
from untilgreen.core.loop.fold import fold
from untilgreen.core.values.state import Lap, RunState
from untilgreen.journal.reader import read

_SCRIPTED = """\
cat > /dev/null
n=$(cat laps 2>/dev/null || echo 0); n=$((n + 1)); echo $n > laps
echo "attempt number $n at the sum"
[ $n -ge 3 ] && echo 'def add(a, b): return a + b' > calc.py
exit 0
"""


def main(arguments: Sequence[str]) -> int:
    """Record every task, one after another."""
    if not arguments:
        return _self_test()
    flags = ArgumentParser(description=(__doc__ or "").splitlines()[0])
    flags.add_argument("tasks", type=Path)
    flags.add_argument("--agent", required=True)
    flags.add_argument("--out", type=Path, required=True)
    flags.add_argument("--laps", type=int, default=20)
    flags.add_argument("--source", default="recorded")
    given = flags.parse_args(arguments)
    tasks = [json.loads(line) for line in given.tasks.read_text().splitlines() if line.strip()]
    with given.out.open("a", encoding="utf-8") as file:
        for task in tasks:
            line = recorded(task, given.agent, given.laps, given.source)
            file.write(json.dumps(line) + "\n")
            file.flush()
            print(f"{task['id']}: {'green' if line['success'] else 'red'} after {len(line['steps'])} laps")
    return 0


def recorded(task: dict[str, Any], agent: str, laps: int, source: str) -> dict[str, Any]:
    """Run one task, and return the run as a line."""
    with tempfile.TemporaryDirectory() as folder:
        place, state = Path(folder) / "work", Path(folder) / "state"
        shutil.copytree(task["folder"], place)
        command = [sys.executable, "-m", "untilgreen", "run", task["task"], "-a", agent, "-g", task["gate"]]
        wide = ["-s", "fixed", "--max-iterations", str(laps), "--set", "detectors=[]", "--no-input", "-q"]
        environment = {**os.environ, "UNTILGREEN_STATE_DIR": str(state)}
        done = subprocess.run([*command, *wide], cwd=place, env=environment, check=False, capture_output=True)
        journal = next(state.glob("runs/*/journal.jsonl"), None)
        run = fold(read(journal)[0]) if journal else None
    if run is None:
        raise SystemExit(f"{task['id']} did not start: {done.stderr.decode(errors='replace').strip()}")
    return as_line(run, task["id"], agent, source)


def as_line(run: RunState, name: str, agent: str, source: str) -> dict[str, Any]:
    """The run as a line, with its laps as steps."""
    return {
        "source": source,
        "id": name,
        "agent": agent,
        "task": name,
        "success": bool(run.laps) and run.laps[-1].green,
        "steps": [
            {
                "action": lap.reply.text,
                "observation": _printed(lap),
                "reward": 1.0 if lap.green else min(lap.score, 0.99),
            }
            for lap in run.laps
        ],
    }


def _printed(lap: Lap) -> str:
    return "\n".join(verdict.excerpt for verdict in lap.verdicts.values() if verdict.excerpt)


def _self_test() -> int:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "task"
        place.mkdir()
        (place / "calc.py").write_text("def add(a, b): return a - b\n")
        agent = Path(folder) / "agent.sh"
        agent.write_text(_SCRIPTED)
        gate = "python3 -c 'from calc import add; print(add(1, 2)); assert add(1, 2) == 3'"
        task = {"id": "sum", "task": "Make add add.", "gate": gate, "folder": str(place)}
        tasks, out = Path(folder) / "tasks.jsonl", Path(folder) / "runs.jsonl"
        tasks.write_text(json.dumps(task) + "\n")
        main([str(tasks), "--agent", f"cmd:sh {agent}", "--out", str(out)])
        (line,) = lines(out)
        run = parse(line.text, line.number, str(out))
    said = [step.action.strip() for step in run.steps]
    print(f"played back: {len(said)} steps, success {run.success}")
    return int(len(said) != 3 or not run.success or "attempt number 3" not in said[-1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
