"""Text for a terminal: safe to show, aligned, as wide as the terminal.

safe_text       Text from others made safe to show: no escape sequence reaches the terminal.
streams         Writing to a stream whose reader may be gone: a closed pipe or terminal never stops a run.
printing        Printing: results to stdout, everything for people to stderr.
event_lines     Events as lines of text; every view of a run uses them.
current_step    What a run is doing right now, read off its state.
questions       A question of a run in full: its text, a sentence for each choice, and the default.
diffs           Diffs for people: colored on a terminal, or as a table of files.
paging          Shows long texts: in $PAGER or less on a terminal, unpaged elsewhere.
lap_text        One lap in full: what the agent was told and said, what changed, what the gates found.
sparkline       Scores as a line of small bars.
gates_table     The gates × laps table: how a run went, at a glance.
fleet_overview  Workers, queues, limits and takeovers of a fleet, a line for each.
summary         The result of a run so far: one object for programs, a few lines for people.

Used by: every other surface. Uses: values of the core, the run store, and `json` for its types.
"""
