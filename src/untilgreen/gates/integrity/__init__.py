"""Catches weakened tests: gates run again in a clean room, and with the originals of protected files.

gate                  The gate, and its options.
judging               The gate's verdict: on the clean room first, then on the originals, joined into one.
clean_room            The verdict on the snapshot alone, and what it means if it differs.
early_trial           Whether the gates work in a clean room at all, tried before the first lap if cheap.
tampering             What a run changed in the files that gates depend on, and what is put back in a copy.
comparison            The gates with the originals, then with new tests added, then on the tree as it is.
canary                Tests that must fail and values that must differ, if changed code could mislead tests.
must_fail_tests       Tests that must fail, by language.
wrong_values          Original tests that compare with wrong values, by language.
opposite_assertions   Original tests with every assertion reversed.
unasked_tests         Which of those stayed green, although they fail on the untouched tree.
explanations          Describes changes to a protected file, to explain a verdict, never to reach one.
trees                 The trees of a run, as this package reads them: a protocol that a workspace implements.
protected/            Which files gates depend on, and which parts of files that mix tests with product code.
trial_rooms/          Where gates run again: a fresh directory, with the files that snapshots leave out.

Used by: engine/wiring and engine/operations. Uses: core, ports, config/sources, gates/output, gates/command;
workspaces come in through the protocol `trees.Trees`.
"""
