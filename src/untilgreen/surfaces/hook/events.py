"""The events that agents report to their hooks; imports nothing, because most hooks end right after it."""

EVENTS = ("stop", "start", "end", "prompt", "interrupt", "idle", "error", "deleted")
