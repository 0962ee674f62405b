"""The pure loop: events to state, state to the next step, and what arrives from outside to events.

fold              Events to state: the only place where a run's state comes from.
step              State to the next single thing to do.
decide            Judges a lap, in this order: green, blocked, cancelled, limits, questions, strategy.
red_gates         Which red gates stop a run, and what people are asked about them.
remedies          What is tried before a stuck run is given up: one remedy per lap.
receive           Commands from outside, as events; taken at any time, even in the middle of a step.
session_arrivals  What the hooks of an agent's session report, as events.

Used by: the engine, the backtest, and surfaces that show the next step. Uses: briefing, scoring and values.
"""
