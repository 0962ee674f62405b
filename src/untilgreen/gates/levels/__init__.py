"""Verification in levels, each on top of the one below: contract, tests, black box, sanity.

gate         Runs the levels from the bottom; the first that fails stops the rest.
contract     L0, the contract: required and forbidden files, their content, their names.
tests        L1, tests and build: setup first, then every command, each with its own findings.
blackbox     L2, the black box: run it as a user would, and check what it prints and leaves.
sanity       L3, sanity: debug leftovers, stray files, oversize files, sources without tests.
work_files   The files of a workspace that are somebody's work: tracked or new, not ignored.
json_schema  JSON Schema, through an optional library.

Used by: the engine, as for every gate. Uses: `gates.command` for L1, `process`, `core` values, `ports`.
"""
