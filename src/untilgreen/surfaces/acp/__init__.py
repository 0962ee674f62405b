"""untilgreen as an agent in editors that speak the Agent Client Protocol: a prompt is a run.

server    Reads requests on stdin, answers on stdout; one prompt at a time for each session.
prompt    One prompt: starts a run with the project's spec, and tells the editor what happens.
updates   Events as the protocol's updates: laps and gates are tool calls, the gates are the plan.

In: the verb `acp`.
Out: the engine; nothing here decides anything.
"""
