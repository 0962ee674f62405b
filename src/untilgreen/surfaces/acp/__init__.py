"""untilgreen as an agent in editors that speak the Agent Client Protocol: a prompt is a run.

server       Answers the editor's requests; one prompt at a time for each session.
wire         JSON lines on stdin and stdout, and the questions that we ask.
prompt_text  What a person wrote and the files they mentioned, as the text of a task.
prompt       One prompt: starts a run with the project's spec, and tells the editor what happens.
updates      Events as the protocol's updates: laps and gates are tool calls, the gates are the plan.
lap_changes  What a lap changed, as the diffs of its tool call.

Used by: the verb `acp`.
Uses: the engine; nothing here decides anything.
"""
