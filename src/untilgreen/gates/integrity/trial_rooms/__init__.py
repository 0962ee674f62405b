"""Where gates run again: a fresh directory, with the files that snapshots leave out.

trials        Runs the gates again in a room, and notes what they did to the files there.
rooms         Rooms for gates to run in: fresh, at the workspace's own path, writing nothing outside.
made_files    Files made by a gate that configure a tool.
unkept_files  Files that snapshots don't contain, as they were before the first lap and are now.
file_copies   Copies of such files, if the machine has no overlays.

Used by: the integrity gate, with a tree and the files to put back. Uses: `protected` and `trees`.
Returns verdicts.
"""
