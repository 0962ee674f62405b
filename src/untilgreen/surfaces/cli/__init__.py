"""The command line: parse the arguments, call the engine, print.

main               All verbs, and the last line of defense: an error becomes a sentence and an exit code.
overview           What `untilgreen` prints without arguments: what it sees here, and the next command.
options            Options that several verbs share.
lap_names          How people name the laps of a run: `RUN@3`, `RUN@best`, `RUN@1..3`.
help_layout        How `--help` is laid out: two columns, no boxes, as wide as the terminal.
completers         Shell completion: runs, answers, names and profiles.
manpage            The manual page, from the same text as `--help` and the reference.
quick_serve        `untilgreen serve` without the parser, so that it listens at once.
caller             Who called: a person or an agent.
remote             What verbs do with --server: the runs of an `untilgreen serve`.
fleet_runs         What verbs do with --fleet: begin, list and find runs of a fleet.
confirm            Questions for the person at the terminal.
installed_agents   The agents that are installed on this machine.
take_from_session  Take a run from the agent session that works on it.
verbs/             One module per verb, imported when the verb is used.

Used by: `__main__` only. Uses: the other surfaces, the engine and the config.
"""
