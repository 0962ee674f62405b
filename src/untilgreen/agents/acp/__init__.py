"""The Agent Client Protocol: drive any agent that speaks it, over JSON lines on its standard streams.

agent         `acp:COMMAND` or `acp:NAME` as an agent: starts the program and talks with it.
known_agents  What was measured about each known agent: its program, how it counts tokens, its quirks.
conversation  One turn of the protocol, from `initialize` to the end of the prompt.
permissions   Which permission requests are granted: edits in the workspace and the gates' commands.

Used by: the plugin registry, which loads `agent` by name.
Uses: the adapters' kit, process, core values and ports.
"""
