"""Calls from inside of an agent's session, in the agent's own wire format."""
