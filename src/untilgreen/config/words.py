"""What each key of the spec is for, in a sentence: for editors, and for the reference."""

from __future__ import annotations

SPEC = {
    "task": "What is wanted, in words.",
    "task_file": "A file with the task, relative to the spec; in place of `task`.",
    "agent": 'The agent: a name, "cmd:COMMAND", or a table with `use` and options.',
    "agents": "Several agents; when one can't go on, the next one does. In place of `agent`.",
    "strategy": "Answers after each lap: a name, or a table with `use` and options.",
    "detectors": "Which patterns are looked for: names, or tables with `use` and options.",
    "remedies": "What is tried when a run is stuck, one lap each, in this order.",
    "session": "Whether each lap is a new conversation of the agent, or one goes on: a mode, or a table.",
    "workspace": "Where the agent works: a mode, or a table with `mode` and its options.",
    "sandbox": "What agents and gates are kept from: a mode, or a table with `mode` and its options.",
    "permissions": "What the agent may do by itself: edit files and run the gates, or everything.",
    "leave": "Whose files are left in the directory when a run ends without being green.",
    "on_interrupt": "What becomes of the files of a turn that a crash cut short.",
    "promise": "The words with which the agent has to claim that it is done.",
    "baseline": "Whether the gates run once on the untouched tree before the first lap.",
    "notify": 'Who is told when nobody looks: "bell", "command:…", "webhook:…" or a plugin.',
    "labels": "Your own words about a run, kept with it.",
    "limits": "Hard ceilings.",
    "gates": "The checks, by name.",
    "integrity": "Which files the agent may not make easier.",
    "profiles": "Values under a name, laid over the others with `--profile NAME`.",
}
LIMITS = {
    "iterations": "Laps.",
    "time": "Time of the whole run, without waiting for rate limits.",
    "errors": "Failed turns of the agent in a row.",
    "cost": "Money, in US dollars.",
    "tokens": "Tokens, input and output together.",
    "lap": "Time of one turn of the agent.",
    "silence": "How long an agent may say nothing; `auto` is 15m for agents that stream, else no limit.",
    "waits": "Waits in a row without a completed turn.",
    "wait": "Time waited in all, for rate limits and the like.",
    "unknown_cost": "What to do when `cost` is limited and a turn does not say what it cost.",
    "token_price": 'Dollars for a million tokens, for `unknown_cost = "estimate"`.',
}
GATE = {
    "kind": "What kind of gate it is, where it is no command.",
    "use": "The same as `kind`; reads better for a plugin such as './checks.py:NoTodos'.",
    "required": "Whether a run needs it to be green.",
    "stage": "Its place in the order; a red stage spares the later ones.",
    "on_fail": "What a failure means: another lap, the end of the run, or a question to a person.",
    "when": "Whether it runs in every lap, only after changes, or only after a claim.",
    "timeout": "How long it may take; then it is ended with all that it started.",
    "retries": "How often it is tried again when it is red; green then is called flaky.",
    "max_attempts": "After so many red laps a person is asked.",
}
COMMAND = {
    "run": "The command, for /bin/sh.",
    "report": "A report that the command writes: JUnit XML, CTRF, SARIF or TAP.",
    "expect": "The exit code that is green.",
    "env": "Variables for the command.",
    "cwd": "The directory to run it in, relative to where the run was started.",
}
SESSION = {
    "mode": "Whether each lap is a new conversation of the agent, or one goes on.",
    "enabled": "Whether a loop may be started inside of an agent's session.",
    "max_iterations": "Laps of a loop inside of a session, where its start does not say.",
    "promise": "The words with which a loop inside of a session is claimed to be done.",
    "brief": "A file with a template of your own for what a session is told, relative to the spec.",
}
WORKSPACE = {
    "mode": "Among your files, or in a worktree of its own.",
    "setup": "Commands that make a worktree ready for the gates.",
    "copy": "Ignored files that a worktree needs, such as .env; paths and patterns, relative to the spec.",
}
SANDBOX = {
    "mode": "Whether agents and gates run in a sandbox of bubblewrap, which writes only to the workspace.",
    "network": "Who may use the network: everybody, agents but not gates, or nobody.",
    "env": "Names of variables to let in beside the usual ones; `*` stands for any end.",
    "read": "Paths to show that are hidden otherwise, such as ~/.npmrc.",
    "write": "Paths that may be written beside the workspace.",
}
INTEGRITY = {
    "enabled": "Whether changed tests are put back and run again before a run may end green.",
    "protect": "Patterns of further files to protect.",
    "allow": "Patterns of files that the agent may change.",
}
EXTENDS = "The profile that this one builds on."
