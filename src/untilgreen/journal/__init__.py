"""The journal of a run: every event, in a file that people can read, or in memory.

codec           Encodes events as lines, chained by hashes so that any changed bit is noticed.
reader          Reads a journal file without waiting for its writer.
file            The journal file: one line per event, on disk before anything else happens.
memory          A journal that lives as long as its object, for tests and runs that need no record.
fsync           Makes files durable, tells whether a file changed, and reads regular files only.
folder_changes  Waits for a change in a folder, notified by the system if possible.
postgres/       The journals of a fleet: the same lines in rows, with a fence.

Used by: the engine, which writes and reads journals, and the backtest, which reads them.
Uses: core events and errors; nothing else.
"""
