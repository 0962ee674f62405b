"""The loop itself: one runner, one function for each step, one bus for listeners.

runner            Fold, ask, do, record: the one loop.
seat              Where a run is driven from, and which steps can be done there.
steps             Does a step: one case for each, through a port, and records what happened.
stages            Runs the gates of one stage side by side; whatever happens becomes a verdict.
parts             Everything a runner works with, put together by driving or by a test.
bus               Publishes events: to listeners at once, to notifiers in the background.
head_moves        What the agent committed itself: HEAD before its turn, and after it.
outside_changes   Which files changed only between turns: a person saved them, or a gate left them.
resumable_errors  Problems around a run, such as a full disk: fix them, and the run continues.

In: a journal, the parts, a seat; from driving and `untilgreen.testing`.
Out: events. It imports
the core, the ports and wiring's redaction and sandbox.
"""
