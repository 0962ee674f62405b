"""What people and programs see of runs; shows events and sends commands, but decides nothing.

text/         Text for a terminal: events as words, tables, summaries, all safe to print.
json/         The lines that --json prints, as types.
json_schemas  JSON Schemas of everything that programs read: the spec, events, the lines of --json.
mcp_answers   Answers of MCP tools that no command prints.
cli/          The command line: parses, calls the engine, prints; a verb is loaded when it is used.
live/         A run while it is driven: the live view, plain lines, JSON, GitHub Actions.
why/          Why a run is where it is: the evidence for its last decision, and the next steps.
report/       A run as a report to share: one value with everything in it, and its formats.
backtest/     The tables and pictures of a backtest.
learning/     What was learned from your own runs, as lines, tables and JSON.
web/          The page and the HTTP API of `untilgreen serve`, safe by default.
mcp/          Runs for other agents and apps, through the Model Context Protocol: `untilgreen mcp`.
acp/          untilgreen as an agent in editors that speak the Agent Client Protocol.
hook/         Calls from an agent's session, in the agent's own format.
install/      Adds hooks and commands to an agent's settings, checks and removes them.

Used by: nothing below; the command line and an agent's hooks are where a process begins.
Uses: engine, backtest, fleet, config and core values.
"""
