"""Where runs work: in place or in a worktree; set up, snapshots, the commit at the end.

place          Where a run works while it is driven, and what provides that place.
premises       Places on this machine: the user's own directory, a worktree, a program's workspace.
setup          Prepares a worktree for its gates, and puts a forked run's files in place.
result_commit  The result of a run with its own worktree, as one commit on a branch.
snapshots      The snapshots of a run, to inspect and restore by hand.

In: a state and the run's scratch; from driving and operations.
Out: a place with a workspace. It
imports store, wiring, workspace and process, and does not know the loop.
"""
