"""A run as a report to share: one value with everything in it, and the formats it can be written in.

content           Everything a report says about a run, in any format; its JSON encoding is a format, too.
gathering         Collect a report on a run: its state, when it began, and the diff of each lap.
escaping          Foreign text made harmless for each format, and how a verdict reads in all of them.
markdown          The report in Markdown, for a pull request or a chat; foreign text is always code.
junit             The outcome of a run as JUnit XML for CI: a test case for the run and one for each gate.
html              The report as one HTML file: no script, no network, and foreign text only as text.
gates_table_html  The gates × laps matrix as a table, and the findings × laps of each gate.
lap_html          One lap of the HTML report: the agent's reply, the verdicts, the decision, the diff.
plots             The plots of a report: score, findings, and cost; each also as text and as a table.
svg               Plots as hand-written SVG: no script and no font; colors come from the page's style.
css               The style of the HTML report, light and dark.

Used by: the verb `report`, `surfaces/live/github_actions`, `surfaces/web`.
Uses: `core`, `engine` for diffs, `surfaces/json` for the lap, `surfaces/why` for the evidence.
"""
