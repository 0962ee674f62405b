"""From what a tool printed or wrote to findings.

tool_result   What one run of a tool reported: counts, and findings whose ids stay the same from lap to lap.
plain_text    Output as plain text: no colors, no control codes, no endless lines.
recognize     Recognizes a tool by the structure of its output and calls its parser.
parsers/      One module for each tool whose printed output is understood.
report_files  Finds and checks the report file that a gate names, and reads it by its format.
reports/      One module for each report format.

In: the command gate, `untilgreen fingerprint` and the backtest hand over text or a file.
Out: a ToolResult. It imports `core` values only, and never starts a process.
"""
