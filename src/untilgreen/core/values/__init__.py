"""The value types that everything else uses: plan, events, state, decisions, limits.

model          What is wanted (plan, gates, agents), what was done (reply), and what was found (verdict).
limits         Hard limits: no strategy starts a lap beyond them.
decision       What a strategy may answer after a lap: continue, finish, or ask a person.
rules          The two contracts for code that judges a run: detectors report, strategies decide.
events         What can happen to a run, in the past tense; the journal is a list of these.
state          What is known about a run: the fold of its journal; never saved, never changed in place.
run_row        One row in a list of runs.
fleet_view     The overview of a fleet: workers, queues, driven runs, limits and takeovers.
driver         The process that drives a run, and its machine.
fingerprint    Whether two texts say the same thing: exactly, after normalizing, or nearly, by a sketch.
signature      A short, recognizable name for an output, such as `error:TypeError-null-auth.ts`.
units          Durations, counts and money as people write them.
option_checks  Checks options and keys against their types, with messages that say what is allowed.
secrets        What must never be written down: values of secret variables, and known kinds of tokens.

Used by: every other package. Uses: nothing but `untilgreen.errors`.
"""
