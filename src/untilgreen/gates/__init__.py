"""Gates: the checks that decide whether the work is done.

command     A shell command: findings come from its output or report, which decides with the exit code.
output/     Turns what a tool printed or wrote into findings.
integrity/  Checks that nothing gates read was weakened: they run again in a copy, with the originals.
levels/     Verification in levels, each on top of the one below: contract, tests, black box, sanity.
judge       Another model reads the task and the diff.
approval    People answer while the run waits for them.
ci          The checks that GitHub ran on a pushed commit, read through `gh`.

Used by: `engine`, which creates gates through the plugin table and calls `check` with a CheckContext.
Uses: `core` values, `ports`, `process` to run commands, `errors`; no gate knows the engine.
Authors of gates import Finding, Verdict and CheckContext from `untilgreen`.
"""
