"""Add our hooks and slash commands to an agent's settings, check them, and remove them.

targets        Everything that differs between the agents: one row for each agent.
command_files  Our slash commands, in the form that each agent has for them.
file_edits     What an installation changes: each file before and after, and nothing that is not ours.
hook_health    Whether the installed hooks are called, only once, and are up to date; rows for `doctor`.
codex_trust    Which hooks Codex calls: the ones whose content its user has trusted.

Used by `cli/verbs/install` and `cli/verbs/doctor`; `hook` reads targets. Imports nothing of `hook`.
"""
