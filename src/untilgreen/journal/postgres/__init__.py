"""Journals in PostgreSQL, for a fleet: the same lines as in a file, and one writer at a time by a fence.

database   One connection that is reopened after a failure.
schema     The tables and roles of a fleet: made once, checked by everybody else.
journal    The events of one run; an append is one statement that only the newest driver can make.
notices    LISTEN in a thread: a writer wakes everybody who waits for news of a run.

Used by: the fleet's records.
Uses: the journal's codec, core values and errors; psycopg, from the extra `fleet`.
"""
