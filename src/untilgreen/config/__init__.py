"""The spec: one format, from file, profile, environment, flags or code.

spec/           The keys of a spec, and their JSON Schema.
sources/        Where values come from: files, variables and flags, merged in layers.
checks/         Whether the values of a spec are valid; every error names the key and where it was set.
load            One spec from file, profile, environment and flags; later layers win.
profiles        Profiles: named sets of values in a spec file; a profile may extend another one.
max_iterations  `--max-iterations` sets the limit and the strategy's own maximum together.
effective       Every setting with its value and where it came from; what `config show` prints.
trust_request   What a spec file would make us run or tell an agent, and a digest of exactly that.
from_plan       Turns a plan back into a spec, so that another run can start from it and change it.
init/           Drafts a first spec for a project, judging by its files.

Used by engine and surfaces. Imports `plugins`, to tell names from places, and core values; never the engine.
"""
