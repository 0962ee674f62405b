"""Runs for other agents and apps, through the Model Context Protocol: `untilgreen mcp` and `/mcp` of `serve`.

arguments        What each tool takes; the schemas that clients see are made from these.
tools            The tools: start a run, wait for it, look at it, steer it, stop it, check the gates.
question_forms   Puts a run's questions to the person at the client, as a form; never to the model.
tasks            Runs as tasks, for clients that know the extension.
resources        Runs as resources: the list, a run, a lap, what a lap changed, and what a gate printed.
handlers         Answers what a client asks for: tools and their calls, and prompts.
task_params      What requests about tasks carry.
server           The protocol over the official SDK: what is offered, and which code handles it.

Used by `cli/verbs/mcp` and `web/mcp_mount` and imported by nothing else, since the SDK is slow to import.
Uses the engine and the JSON lines. Nothing here answers, allows, trusts, applies or restores by itself: the
caller may be the agent that is being judged.
"""
