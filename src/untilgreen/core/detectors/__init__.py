"""Each recognizes one pattern in the laps so far; none decides what follows from it.

cycle    Going in circles: repetition is a cycle of period one, ping-pong one of period two.
similar  Saying the same again while nothing moves.
stall    Moving without getting anywhere.
claims   Saying that it is done when it is not.
noop     A turn that did nothing.
errors   The agent itself failed: it crashed, was refused, or asked a question nobody answers.

Used by: the loop, which calls those that a plan names. Uses: only briefing, scoring and values.
"""
