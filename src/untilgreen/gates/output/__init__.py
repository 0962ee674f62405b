"""Turns what a tool printed or wrote into findings.

tool_result   What one run of a tool reported: counts, and findings whose ids stay the same from lap to lap.
plain_text    Output as plain text: no colors, no control codes, no endless lines.
recognize     Recognizes a tool by the structure of its output and calls its parser.
parsers/      One module for each tool whose printed output is understood.
report_files  Finds and checks the report file that a gate names, and reads it by its format.
reports/      One module for each report format.

Used by: the command gate, `untilgreen fingerprint` and the backtest, which hand over text or a file.
Uses: `core` values only; it never starts a process. Returns a ToolResult.
"""
