"""What Temporal keeps going: one workflow for each run, and schedules.

orders      What travels through Temporal: a run's id and a few numbers, never text of a run.
connection  Connects to Temporal, with the credentials in Temporal's own variables.
workflow    Keeps one drive of a run alive somewhere, and waits for times and knocks in between.
schedules   Scheduled runs: each time, another run of the same plan begins.

Used by: the client and the worker. Uses: temporalio, and `fleet/runs` for a fleet's address and its records.
"""
