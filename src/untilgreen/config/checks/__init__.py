"""Whether the values of a spec are valid; every error names the key and where it was set.

parse        From merged values to a valid spec; an error names each wrong key and its place.
every_error  Collects all errors: a check runs again without the key that it stopped at.
types        Whether a value fits its key: msgspec checks types and bounds, errors name the key and its place.
plugin_refs  Strategies, detectors, agents and notifiers: a name, or a table with `use` and options.
gates        `[gates.NAME]`: the keys that every gate has, and those of its kind.
session      `session`: a mode, or a table with the defaults of loops in an agent's own session.
workspace    `workspace`: a mode, or a table with what a worktree needs.
sandbox      `sandbox`: a mode, or a table with the exceptions.

Used by `config/load` and `config/profiles`. Imports `config/spec`, `config/sources` and values of the core.
"""
