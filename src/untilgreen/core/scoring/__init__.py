"""What verdicts add up to: scores, progress, the health of gates.

measure         How good a lap was: its score, its findings, and whether it beats all laps before it.
gate_scores     A gate's score, comparable between laps: tests that pass, out of the most it ever showed.
same_outcome    Whether two laps had the same outcome, by their findings or by the words of an output.
progress        How far a run has come, how fast it moves, and when it might be done.
gate_health     Whether a gate is green, red or broken, and flaky or slow as well.
known_verdicts  Verdicts that are known before a gate runs.
vanished_tests  A pass that shows far fewer tests than its gate ever did is not believed.
weakened_tests  Whether a run failed only because protected tests were changed.

Used by: briefing, detectors, strategies, the loop, the engine and the surfaces. Uses: only values.
"""
