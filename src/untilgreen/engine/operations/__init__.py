"""What people do with runs besides driving them: check, verify, apply, fork, prune, doctor.

check         Runs the gates alone, on the current files, without an agent or a run.
try_gates     Runs each gate that `init` proposes once, so that a spec starts with gates that work.
worst_case    The most that a run can cost, from its limits alone.
doctor        Whether this machine and directory are ready for a run, with a fix for each problem.
verify        Whether a run's result still holds: its journal is intact, its gates give the same verdicts.
apply         Merges the result of a run into the user's files, on top of what changed there since.
fork          Makes a new run from another one: with its plan, perhaps changed, and the files of a lap.
prune         Removes old runs: their snapshots, worktree, branch and, last of all, their folder.
calling_run   Finds the run that a command comes from, even if its agent hid every trace of that.

Used by: the surfaces. Uses: every other package of the engine.
Each takes a record and returns a value that says what became of it.
"""
