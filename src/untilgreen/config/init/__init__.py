"""Drafts a first spec for a project, judging by its files.

detect   Which gates a project already has, judged by its files; nothing is run.
presets  Specs that people ask for by name: a task, and gates that fit the project.
draft    The text of a first spec, which `init` shows before it writes it.

Used by `cli/verbs/init`. Imports `config/sources` to read TOML.
"""
