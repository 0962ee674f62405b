"""The imperative shell: asks the core what is next, does it, and records what happened.

wiring/        From a spec to a plan, and from a plan to the objects that a run is driven with.
store/         What is stored about runs on this disk: the record of each, scratch, sessions, trust.
loop/          The loop itself: one runner, one function for each step, one bus for listeners.
worktree/      Where a run's files are: in place or in a worktree; setup, snapshots, the final commit.
driving/       Start a run, drive one from wherever it stopped, and send it commands.
operations/    What people do with runs besides driving them: check, verify, apply, fork, prune, doctor.
session_plan   The plan of a run in an agent's session: from the directory's spec and the start's options.
session_loop   A run in an agent's session: continue it, pass on what happens there, inspect it, end it.
session_start  Starts a run in an agent's session: its plan, its record, and its first brief.
api            Runs from Python: `await untilgreen.run(…)`, its synchronous twin, and a handle.

Used by: the surfaces, the backtest, the fleet and programs. Uses: everything below the engine.
Each package imports only packages listed above it; loop and worktree do not import each other.
"""
