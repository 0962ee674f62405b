"""The loop itself: one runner, one function for each step, one bus for listeners.

runner            The one loop: fold the journal, ask for the next step, perform it, record the event.
recorder          The only way into the journal; events of one moment share one write and one sync.
seat              Who drives (a process, an agent's session, a fleet), and which steps they can perform.
steps             Does a step: one case for each, through a port, and records what happened.
stages            Runs the gates of one stage side by side; whatever happens becomes a verdict.
parts             What a runner depends on, put together by driving or by a test.
bus               Publishes events: to listeners at once, to notifiers in the background.
head_moves        Finds commits that the agent made itself: HEAD before its turn, and after it.
outside_changes   Finds files that changed only between turns: a person saved them, or a gate left them.
resumable_errors  Errors of the environment, such as a full disk, after which a run can be resumed.

Used by: driving and `untilgreen.testing`. Uses: the core, the ports, wiring's redaction and sandbox.
"""
