"""A fleet's runs: their records in PostgreSQL, their files on the git remote.

record     A run in PostgreSQL, behind the same contract as a run in a folder.
records    All runs of a fleet, and how one begins.
beginning  What a run begins with: the current commit, or uncommitted files as its first snapshot.
premises   Where a run works on a machine: a worktree of a clone, made ready for each drive.
undriven   Takes the commands for a run that nobody can drive; ends or pauses it without its files.
mirror     A copy of a fleet's run in a local folder, for reading; commands go to the run itself.

Used by: the rest of the fleet, and surfaces that show its runs.
Uses: journal/postgres, workspace and the engine's store.
"""
