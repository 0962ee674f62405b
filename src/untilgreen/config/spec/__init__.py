"""The keys of a spec, and their JSON Schema.

schema       Every key of the spec: its type, its default, its bounds and what it is for.
json_schema  The spec as a JSON Schema, for editors and for programs that write specs.

Used by the rest of `config`, by `engine/wiring`, `help spec` and the reference. Imports only core.
"""
