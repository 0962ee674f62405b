"""The same runs on many machines: Temporal keeps each one driven somewhere, PostgreSQL stores its record.

client        A fleet as a command sees it: start a run, wake it, set limits.
worker        Polls for runs, starts a driver for each, and sends heartbeats for it.
driver        One drive in its own process: commands on stdin, news on stdout.
failures      What happens when a drive fails for a reason outside the run: retries, then a pause.
fork_server   Starts drivers as forks of one process that has everything loaded.
seat          The seat of a worker: it drives while there is work, and leaves long waits to Temporal's timers.
requirements  Whether this machine has the programs and secrets that a run needs.
runs/         A fleet's runs: their records in PostgreSQL, their files on the git remote.
temporal/     What Temporal keeps going: one workflow for each run, and schedules.
overview      Workers, queues, who drives what, limits and takeovers at one moment.
servers       PostgreSQL and Temporal from packages, on this machine, for a trial and for tests.

Used by: the command line and other surfaces, where a fleet's address is set.
Uses: engine, journal, workspace; temporalio and psycopg, from the extra `fleet`.
"""
