"""What detectors and strategies would have done with finished runs: a replay, without any agent.

trajectories  Recorded runs of any agent, one JSON object per line, as values.
replay        A recorded run played to detectors and a strategy, lap by lap, as the engine would have done.
score         What stopping there would have saved, and what it would have lost.
parallel      Many recorded runs on all cores; the result does not depend on how many there are.
learning      Recorded runs in the order of the file, each decided by what those before it taught.
decisions     The decisions in a journal, each with the state that it was made from.
strategies    Your own runs with another strategy: what it would have saved, and what it would have lost.
own_runs      Your own runs, read from their journals, and the strategies to compare them with.

Used by: `surfaces` alone.
Uses: the core, the gates' parsers, the engine's store and wiring, journal and plugins.
"""
