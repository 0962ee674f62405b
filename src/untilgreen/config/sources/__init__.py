"""Where values come from: files, variables and flags, merged in layers.

find        Find the spec file of a directory and read it.
safe_toml   Parse TOML from strangers: a key with thousands of parts would take the parser quadratic time.
layers      Values from several sources merged in order; each remembers where it came from.
toml_lines  Find the line of a key in a TOML file, so that an error can point at it.
from_text   Values given as text: environment variables, `--set` and `--gate`.

Used by `config/load`, `config/profiles` and the checks. Imports `config/spec`.
"""
