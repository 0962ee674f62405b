"""The page and the HTTP API of `untilgreen serve`: view runs, answer their questions, control them.

server        Bind, write the token, serve, and end cleanly: the server around the application.
people        Who is calling, and what they may do: by the token, or by a trusted proxy.
connection    One connection: a request has to arrive in time, however slowly somebody sends it.
guard         Refuse what the page would never send, before any operation sees it.
peer          Who is at the other end of a connection: agents and gates are refused, even with the token.
application   The ASGI application: the operations as routes, the page, and the guard around both.
api/          The contract: the table of operations, what they take and answer, and its OpenAPI document.
handlers/     One function for each operation.
backend       Opens what operations work with: the runs, after the server listens.
runs          The runs behind the API: found by their exact id, here or in a fleet.
known_runs    One run as the API knows it: as a row of a list, and in full from its journal.
local_runs    The runs of one state directory.
fleet_runs    The runs of a fleet: their rows and journals in its database, their snapshots on their remotes.
changed_runs  Notices which runs have changed, once for all followers.
summaries     A run's summary, and its progress lap by lap, for the page's lists, matrix and plots.
questions     The question of a run for the inbox: choices explained, an id so that late answers are refused.
mcp_mount     `/mcp`: the same runs for MCP clients, behind the guard and within the limits.
assets        The page's files: known by name, so that no request ever names a path.

Used by: the verbs `serve` and `schema`.
Uses: `engine` to find, read and command runs; other surfaces for words.
The page itself is in `page/`: ES modules without a build step, and vendored libraries with their licenses.
"""
