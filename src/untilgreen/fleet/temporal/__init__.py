"""What Temporal keeps going: one workflow for each run, and schedules.

orders      What travels through Temporal: a run's id and a few numbers, never text of a run.
connection  The line to Temporal, with the credentials that Temporal's own variables name.
workflow    Keeps one call alive somewhere, and waits for times and knocks in between.
schedules   Runs by the clock: each time another run of a plan begins.

Used by: the client and the worker. Uses: temporalio, and `fleet/runs` for a fleet's address and its records.
"""
