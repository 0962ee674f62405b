"""Start a run, drive one from wherever it stopped, and send it commands.

start             Makes a run from a plan, without driving it yet.
drive             Drives a run from wherever it stopped: the one call that every surface makes.
keeping_journal   Saves the files that an event names before the event itself.
signals           Ctrl-C and similar signals: what they do to a run that is driven, and to other work.
handle            A run in progress, for the program that started it: inspect it, send it commands.
sending           Sends a command to a run, driven or not.
end_undriven      Ends a run that was told to end but has no driver.
launch            Starts a separate process that drives a run and outlives this one.
driver_process    The program that `launch` starts: its questions are answered elsewhere.

Used by: surfaces, the API, sessions, operations and the fleet. Uses: loop, worktree, store and wiring.
Takes a plan, or a record with premises and a seat; returns the state that a drive ends with.
"""
