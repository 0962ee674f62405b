"""Why a run is where it is: the evidence for its last decision, and the next steps.

evidence       The evidence for the last decision, as values: what was seen, what was tried, what fails.
next_commands  What a person can do now: what has to change, and the commands for it.
text           `why` in words: the decision, its evidence, and the next steps.

Used by: the verb `why`, `surfaces/report`, `surfaces/web`.
Uses: `core`, `surfaces/json` for the lap, `surfaces/text`.
"""
