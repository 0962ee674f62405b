"""Calls from an agent's session: a hook reads the agent's payload and answers in the agent's own format.

flags            The flags of a hook, parsed without the command line's slow parser.
events           The events that agents report to their hooks.
call             One call: read the payload, answer what needs no driving at once, print the answer.
continuing       Continues the run of the session: passes on what happened, answers with what comes next.
payload          What an agent tells its hooks, in one shape for all agents.
transcripts      The agent's last words from its transcript, where the payload does not have them.
slash_commands   Commands that a person types into a session: /ralph, /cancel-ralph and /untilgreen.
answers          What a hook answers, in the format of each agent.
terminal_title   Messages for agents that show none: the terminal's title and bell.
session_line     The state of a session's loop, as programs read it.

Called by `untilgreen.__main__` and `cli/verbs/hook`; `cli/verbs/session` and `untilgreen.session` use
answers and session_line. Drives runs through `engine/session_loop`; `install/targets` says what differs
between agents.
"""
