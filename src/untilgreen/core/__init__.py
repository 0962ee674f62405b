"""The functional core: values in, values out; no clock, files, processes or randomness.

values/      The value types that everything else uses: plan, events, state, decisions, limits.
scoring/     What verdicts add up to: scores, progress, the health of gates.
briefing/    What the agent is told, what its reply claims, and how much of a text an event keeps.
learning/    What your past runs say about the next lap of a new one.
detectors/   Each recognizes one pattern in the laps so far; none decides what follows from it.
strategies/  Each decides after a lap that was not green: continue, finish, or ask a person.
loop/        The pure loop: events to state, state to the next step, arrivals to events.
defaults     Defaults for what a spec leaves out, and the parts that a strategy brings along.
exit_codes   The exit code for each outcome, and for each way a run can stay open.

Used by: everything above. Uses: only `untilgreen.errors`, msgspec and the pure half of the
standard library; tests/test_shape.py has the list.
"""
