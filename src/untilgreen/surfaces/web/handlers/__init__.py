"""One function for each operation of the HTTP API, in modules imported when they are first asked for.

call     One call of an operation: what it is about, what came with it, and what it may use.
health   The operation that needs nothing.
reading  The operations that only read.
streams  Events as server-sent events, with their positions as ids.
control  The operations that change something: each hands a command to the run.
start    The operations that start runs: plan first, trust by digest, within the server's limits.
files    The operations that bring the files of a run to its workspace.
fleet    The operation that shows the server's fleet.
machine  The operations about this machine and all its runs: plugins, doctor, backtest.

Used by: the application, by the names in the table of operations.
Uses: `engine`. Returns the types of `api/`.
"""
