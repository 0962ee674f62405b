"""Which files gates depend on, and which part of a file that mixes tests with product code.

protection         Which paths gates depend on: tests, tools' configuration, scripts, and what the spec adds.
patterns           The file names that are always protected, by language and tool.
derivation         What gates read, derived from commands, configuration and the baseline's own results.
executed_files     The files that a gate's command runs: changing one changes the gate.
followed_files     What such a file runs in turn: other scripts, a Makefile's rules, commands of package.json.
installed_plugins  Installed modules that gates load, such as pytest's plugins: no new file may shadow one.
loaded_files       The files that a tool's configuration loads into every test run: plugins, setup files.
mixed_files        Files that hold both configuration and product, such as pyproject.toml: put back in part.
go_helpers         Go packages that only tests import.
rust_inline_tests  Test modules in the code they test, as in Rust: the module is put back, not the file.
python_doctests    Examples in docstrings, which doctest runs: the docstring is put back, not the file.
suppressions       Comments that suppress a tool's findings: new ones are removed from the copy.
runner_checks      Code that checks whether it is being tested: in the copy it finds no runner and no test.
cmake_tests        Tests as CMake declares them: the commands are put back, not the file.

Used by: the integrity gate, with the commands of gates and the trees of a run.
Returns paths, and the contents of files that are put back in part.
"""
