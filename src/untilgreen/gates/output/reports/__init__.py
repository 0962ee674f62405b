"""One module for each report format.

junit        JUnit XML, read test by test, so memory stays bounded.
tap          TAP in a file, read line by line, so memory stays bounded.
json_report  Reports in JSON: CTRF and SARIF share a file extension, so the content decides.
ctrf         CTRF: one JSON object for a test run of any runner.
sarif        SARIF 2.1.0: what analyzers found, each result with a rule, a level and a place.

Used by: `report_files`, which opens and checks the file. Returns a ToolResult, or BadReport with the reason.
"""
