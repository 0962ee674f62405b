"""Done means verified: gates run again in a clean room, and with the originals of weakened files put back.

gate          The gate: first the clean room, then the originals, and one verdict from both.
clean_room    The verdict on the snapshot alone, and what it means if it differs.
early_trial   Whether the gates work there at all, tried before the first lap if that is cheap.
tampering     What a run changed in the files that gates depend on, and what a copy gets back.
comparison    The gates with the originals, then with new tests added, then on the tree as it is.
canary        A test that must fail, where changed code could keep tests from failing.
must_fail     Such tests, by language.
explanations  Describes changes to a protected file, to explain a verdict, never to reach one.
trees         The trees of a run, as this room reads them: the protocol that a workspace fits.
protected/    Which files gates depend on, and which part of a file that holds product as well.
trial_rooms/  Where gates run once more: a fresh room, with what no snapshot holds.

Imported by engine/wiring and engine/operations. Imports core, ports, config/sources and gates/output and
gates/command; workspaces come in through the protocol `trees.Trees`.
"""
