"""What `--json` prints, as types; the schemas are made from them.

lap           A lap as programs and pages read it: the one view that the result, the report and `why` share.
lines         Every line that `--json` prints.
verify_lines  The lines of `verify --json`.

Used by: the verbs, the live view, the report and `why`. Uses: values of the core, and no other surface.
"""
