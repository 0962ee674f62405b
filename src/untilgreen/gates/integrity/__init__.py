"""Catches weakened tests: gates run again in a clean room, and with the originals of protected files.

gate          The gate, and what it is made with.
judging       What it says: first of the clean room, then of the originals, and one verdict from both.
clean_room    The verdict on the snapshot alone, and what it means if it differs.
early_trial   Whether the gates work in a clean room at all, tried before the first lap if that is cheap.
tampering     What a run changed in the files that gates depend on, and which originals the copy gets.
comparison    The gates with the originals, then with new tests added, then on the tree as it is.
canary        Tests that must fail and values that must differ, where changed code could mislead tests.
must_fail     The canary's tests, by language.
wrong_values  Original tests that compare with wrong values, by language.
opposites     Original tests in which every assertion says the opposite.
unasked       Which of them stayed green, as none does on the untouched tree.
explanations  Describes changes to a protected file, to explain a verdict, never to reach one.
trees         The trees of a run, as this package reads them: the protocol that a workspace implements.
protected/    Which files gates depend on, and which part of a file that mixes tests with product code.
trial_rooms/  Where gates run once more: a fresh directory, with the files that snapshots leave out.

Used by: engine/wiring and engine/operations. Uses: core, ports, config/sources, gates/output, gates/command;
workspaces come in through the protocol `trees.Trees`.
"""
