"""What the adapters share: one turn of a command-line agent, from its start to its reply.

cli_agent      The options and the turn that every adapter for a command-line agent has.
readiness      Whether an agent is installed, logged in, and willing to run as this user.
take_turn      Takes one turn: starts the program, listens to it, and makes a reply.
run_cli        Finds and runs a program in a turn's directory; enough for a simple adapter.
json_lines     Reads one JSON object per line, tolerating missing or unexpected values.
turn           Collects what an agent says and does in one turn, and turns it into a reply.
error_classes  Classifies failures by the words and status codes of agents and providers.
retry_times    Reads from an error message when to try again.
gate_commands  Turns the gates' commands into rules that permit exactly those commands.
sandbox_homes  What an agent needs from the user's home directory inside a sandbox.
throttle       Shows a program's output at a speed people can follow.

Used by: the adapters in `untilgreen.agents`, and third-party adapters, through `untilgreen.agents`.
Uses: process, core values, ports and errors.
"""
