"""Child processes: started, watched, sandboxed, and killed with everything they started.

run                Runs one command to its end and leaves nothing of it behind: start reading here.
start              Starts a child that waits until its process tree is contained and noted.
environment        Caches our environment variables and the secrets in them.
supervise          Follows a child to its end: carries input and output, enforces time limits, cleans up.
talk               A child's input that is written while the child runs.
pipes              Our ends of a child's pipes: reads bytes as they arrive, writes as the pipe has room.
disk_watch         Counts what a command writes to disk, and notices when it exceeds the limit.
capture            A child's output: on disk up to a cap, both ends in memory, and line by line to a listener.
tree               A child and all its descendants: how they are recognized and killed.
tree_note          Notes about running process trees, for the next driver to clean up after a crash.
table              The machine's processes at one moment, and signals that can't reach the wrong one.
subreaper          Makes orphaned descendants our children while a tree runs (Linux only).
cgroup             A cgroup for one child: nothing started in it can leave, and it is killed with one write.
sandbox/           What a child sees of the machine: bubblewrap, and rooms in place of the workspace.
scratch_directory  Temporary directories for one command, removed even if the driver dies.
flock              File locks that the system releases when their owner dies.
boot_clock         One clock for events and process start times, not affected by changes to the wall clock.

Used by: agents, gates, notify, workspace, engine and the command line.
Uses: core values, ports and errors; nothing here knows about runs, laps or gates.
"""
