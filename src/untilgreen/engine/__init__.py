"""The imperative shell: asks the core what is next, does it, and records what happened.

wiring/       From a spec to a plan, and from a plan to the objects that a run is driven with.
store/        What is stored about runs on this disk: the record of each, scratch, sessions, trust.
loop/         The loop itself: one runner, one function for each step, one bus for listeners.
worktree/     Where runs work: in place or in a worktree; set up, snapshots, the commit at the end.
driving/      Start a run, drive one from wherever it stopped, and send it commands.
operations/   What people do with runs besides driving them: check, verify, apply, fork, prune, doctor.
session_plan  The plan of a loop in an agent's session: the directory's spec, and what its start asks for.
session_loop  A run in an agent's session: start it, continue it, pass on what happens there, inspect it.
api           Runs from Python: `await untilgreen.run(…)`, its synchronous twin, and a handle.

In: a spec, a command, what a hook says; from the surfaces, backtest and programs.
Out: events and
states. Rooms import downwards only: operations, driving, loop and worktree side by side, store, wiring.
"""
