"""A model that follows a script, for agents' real command lines; it speaks four APIs.

scenario            What the scripted model answers to its n-th request, read from a file or a value.
server              The scripted model on a port of this machine: plays a scenario, remembers the requests.
request             Reads an agent's request in any of the four APIs.
tools               Portable tool calls, translated to the tools that the agent offers in the request.
answer              One answer on its way to an agent, whichever API will write it out.
anthropic           Answers in the form of Anthropic Messages.
chat                Answers in the form of OpenAI Chat Completions.
responses           Answers in the form of OpenAI Responses.
gemini              Answers in the form of the Gemini API.
agent_environments  How each agent is pointed at the scripted model, with its own home and no other network.
__main__            `python -m untilgreen.testing.model scenario.toml` serves a scenario until interrupted.

Used by: tests of agents, and `untilgreen demo --agent`. Uses: the standard library and `msgspec`.
"""
