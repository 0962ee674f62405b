"""Messages to people who are not watching: which events are worth one, and the ways to send it.

messages     Which events are worth a message, and its text; pure, so a restart sends nothing twice.
bell         The terminal's bell, for when you are in another window.
command      Run a command for each message, with the message as JSON on stdin and in variables.
environment  The part of the environment that notifiers may use: they run outside the sandbox.
desktop      A desktop notification, with the system's own tools.
webhook      Post each message as JSON to an address: Slack, Mattermost, ntfy, or your own server.
apprise      Slack, Telegram, Discord, mail, ntfy and a hundred more, through Apprise: the extra `notify`.
traces       Traces for OpenTelemetry: one trace for each run, with a span for each lap, turn and gate.
span_sender  Sends spans to an OpenTelemetry collector, with stable ids, in a thread.

Used by: `engine/wiring`, which makes notifiers from the spec, and `surfaces/hook`, which rings the bell.
Uses: `core` for events and state, `process` to run a command.
"""
