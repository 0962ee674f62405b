"""Where a run's files are: in place or in a worktree; setup, snapshots, the final commit.

place          Where a run works while it is driven, and what provides that place.
premises       Places on this machine: the user's own directory, a worktree, a program's workspace.
setup          Prepares a worktree for its gates, and puts a forked run's files in place.
result_commit  The result of a run with its own worktree, as one commit on a branch.
snapshots      The snapshots of a run, to inspect and restore by hand.

Used by: driving and operations. Uses: store, wiring, workspace and process; it does not know the loop.
"""
