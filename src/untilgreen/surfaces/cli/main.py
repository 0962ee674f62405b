"""All verbs, and the last line of defence: an error becomes a sentence and an exit code."""

from __future__ import annotations

import os
import traceback

from cyclopts import App, CycloptsError, Group, Parameter, UnknownCommandError, UnusedCliTokensError

from untilgreen import __version__
from untilgreen.core.exits import AGENT, CRASHED, OK, SIGINT, USAGE
from untilgreen.errors import (
    AgentUnavailable,
    ConfigError,
    JournalError,
    JournalLocked,
    RunGone,
    UnknownPlugin,
    UntilgreenError,
    UserError,
    nearest,
    only,
)
from untilgreen.surfaces.cli.say import complain, settled_streams

_HERE = "untilgreen.surfaces.cli"
VERBS = {
    "run": ("drive:run", "Keep an agent working until the gates are green."),
    "plan": ("plan:plan", "Show what a run would do and could cost; run its gates once."),
    "check": ("check:check", "Run the gates, without an agent; --repeat finds flaky ones."),
    "resume": ("drive:resume", "Go on with a run that was left."),
    "list": ("runs:list_runs", "List the runs of this directory."),
    "show": ("show:show", "Show one run: outcome, laps and gates."),
    "why": ("why:why", "Say why a run stands where it stands, and how to go on."),
    "report": ("report:report", "Write a run down for others: Markdown, HTML, JSON or JUnit."),
    "verify": ("verify:verify", "Check a run's journal, and run its final gates once more."),
    "follow": ("follow:follow", "Watch a run that another process drives."),
    "stop": ("arrivals:stop", "End a run after the lap under way."),
    "cancel": ("arrivals:cancel", "End a run now."),
    "pause": ("arrivals:pause", "Let a run start no further turn."),
    "steer": ("arrivals:steer", "Leave a note for the agent's next brief."),
    "answer": ("arrivals:answer", "Answer the question that a run asks."),
    "diff": ("trees:diff", "Show what a run, or some of its laps, changed."),
    "restore": ("trees:restore", "Put the files of a lap back into the directory."),
    "fork": ("fork:fork", "Begin another run with the files of a lap."),
    "apply": ("apply:apply", "Bring the result of a run into your files."),
    "prune": ("prune:prune", "Remove old runs: their folders, worktrees, branches and snapshots."),
    "fingerprint": ("fingerprint:fingerprint", "Show what is seen in the output of a tool."),
    "trust": ("trusting:trust", "Look at what a repository's spec would run, and say that it may."),
    "init": ("init:init", "Write a spec for this directory, from what its files show."),
    "doctor": ("doctor:doctor", "Look whether all that a run needs is there, and what mends it."),
    "config": ("config:app", "Show the spec as it holds here, and where each value came from."),
    "schema": ("schema:schema", "Print a JSON Schema: spec, events, output, result or report."),
    "backtest": ("backtest:backtest", "See what detectors and strategies would have done with past runs."),
    "plugins": ("plugins:app", "List what can be used by name, or check a plugin of your own."),
    "session": ("session:app", "Start, end and look at a loop inside of an agent's session."),
    "install": ("install:install", "Let an agent's sessions have loops: write our hooks and commands."),
    "uninstall": ("install:uninstall", "Take our hooks and commands out of an agent's settings again."),
    "hook": ("hook:hook", "What an agent's hooks call; `untilgreen install` sees to that."),
    "demo": ("demo:demo", "Watch a run in a temporary project; needs no key."),
    "completion": ("completion:completion", "Print the completion script of bash, zsh or fish."),
    "help": ("help:app", "Explain exit codes, variables, values and keys; print the manual."),
}

GROUPS = {
    "Run": ("run", "plan", "check", "resume", "demo"),
    "Look": ("list", "show", "why", "follow", "report", "verify", "diff"),
    "Have a say": ("answer", "steer", "stop", "cancel", "pause"),
    "Files": ("restore", "apply", "fork", "prune"),
    "Inside a session": ("install", "uninstall", "session", "hook"),
    "Set up": ("init", "doctor", "config", "trust", "plugins", "schema", "completion", "help"),
    "Study": ("backtest", "fingerprint"),
}
"""How the help sorts the verbs."""
WITH_A_TASK = ("run", "plan", "fork")


def make_app() -> App:
    """The parser; a verb's module is imported only when the verb is used."""
    app = App(
        name="untilgreen",
        version=f"untilgreen {__version__}",
        help="Keep a coding agent working until its gates are green; stop it when it never will be.",
        help_epilogue="`untilgreen VERB --help` explains a verb, `untilgreen help exit-codes` the codes.",
        default_parameter=Parameter(negative=(), show_default=False),
    )
    groups = {title: Group.create_ordered(title) for title in GROUPS}
    for name, (place, summary) in VERBS.items():
        title = next(title for title, verbs in GROUPS.items() if name in verbs)
        app.command(f"{_HERE}.{place}", name=name, help=summary, group=groups[title])
    flags = Group.create_ordered("Flags")
    for flag in ("--help", "--version"):
        app[flag].group = (flags,)
    return app


def reference() -> str:
    """Every verb with its flags, as Markdown; the help, the manual page and docs/reference say the same."""
    return make_app().generate_docs(output_format="markdown", usage_name="untilgreen")


def call(arguments: list[str]) -> int:
    """Do what the arguments say; the result is the exit code."""
    with settled_streams():
        return _call(arguments)


def _call(arguments: list[str]) -> int:
    try:
        result = make_app()(
            _with_stdin_named(arguments),
            exit_on_error=False,
            print_error=False,
            help_on_error=False,
            result_action="return_value",
        )
    except CycloptsError as error:
        verb = arguments[0] if arguments and arguments[0] in VERBS else ""
        complain(_said(error, arguments), f"untilgreen {verb} --help".replace("  ", " "))
        return USAGE
    except (UserError, JournalLocked, RunGone) as error:
        complain(str(error), _help_for(error))
        return USAGE
    except AgentUnavailable as error:
        complain(str(error))
        return AGENT
    except JournalError as error:
        complain(str(error))
        return CRASHED
    except KeyboardInterrupt:
        complain("interrupted")
        return SIGINT
    except SystemExit as left:
        if isinstance(left.__context__, BrokenPipeError):  # `--help | head`: whoever read has read enough
            return OK
        raise
    except Exception as error:
        return _defect(error)
    return result if isinstance(result, int) else OK


def _said(error: CycloptsError, arguments: list[str]) -> str:
    """The parser's sentence, or a better one where words are left over."""
    first = arguments[0] if arguments else ""
    if isinstance(error, UnknownCommandError) and first.startswith("-"):
        return f"{first!r} stands before the verb. Write the verb first: untilgreen VERB {first} …"
    if not isinstance(error, UnusedCliTokensError) or not error.unused_tokens:
        return str(error)
    left = error.unused_tokens[0]
    if first in WITH_A_TASK:
        return f"The task is one argument, and {left!r} is left over. Put the whole task in quotes."
    below = [name for name in make_app()[first] if not name.startswith("-")]
    return f"`untilgreen {first}` has no place for {left!r}. {nearest(left, below) if below else ''}".strip()


def _help_for(error: Exception) -> str:
    """The command that shows what could have been written instead."""
    match error:
        case UnknownPlugin():
            return "untilgreen plugins"
        case ConfigError():
            return "untilgreen help spec, or untilgreen config show --sources"
        case _:
            return ""


def _with_stdin_named(arguments: list[str]) -> list[str]:
    """A lone `-` is the task from stdin; the parser would take it for an option without a name."""
    if arguments[:1] != ["run"]:
        return arguments
    words: list[str] = []
    for position, word in enumerate(arguments):
        if word == "--":
            return [*words, *arguments[position:]]
        if word == "-" and words[-1] in ("-f", "--file"):
            words.pop()
        words.append("--file=-" if word == "-" else word)
    return words


def _defect(error: Exception) -> int:
    from untilgreen.engine import ids

    cause = only(error)
    seen: set[int] = set()
    while cause.__cause__ is not None and id(cause) not in seen:
        seen.add(id(cause))
        cause = cause.__cause__
    if isinstance(cause, FileNotFoundError) and (run := ids.gone(os.fspath(cause.filename or ""))):
        complain(str(RunGone(run)))  # between two of its looks; not worth a lock for who only reads
        return USAGE
    ours = isinstance(error, UntilgreenError)
    complain(str(error) if ours else f"a defect in untilgreen: {type(cause).__name__}: {cause}")
    if os.environ.get("UNTILGREEN_DEBUG"):
        traceback.print_exception(error)
    else:
        complain("", "set UNTILGREEN_DEBUG=1 and try again to see where it happened")
    return CRASHED
