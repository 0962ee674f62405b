"""A fleet's runs: their records in PostgreSQL, their files on the git remote.

record     A run in PostgreSQL, behind the same contract as a run in a folder.
records    All runs of a fleet, and how one begins.
beginning  What a run begins with: the commit here, or what is on disk as its first snapshot.
premises   A worktree of a clone: snapshots are on the remote before anybody hears of them.
undriven   Takes the commands for a run that nobody can drive; ends or pauses it without its files.
mirror     A fleet's run in a folder here, to look at; commands go to the run itself.

Used by: the rest of the fleet, and surfaces that show its runs.
Uses: journal/postgres, workspace and the engine's store.
"""
