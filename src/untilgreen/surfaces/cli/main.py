"""All verbs, and the last line of defense: an error becomes a sentence and an exit code."""

from __future__ import annotations

import os

from cyclopts import App, CycloptsError, Group, Parameter, UnknownCommandError, UnusedCliTokensError

from untilgreen import __version__
from untilgreen.core.exit_codes import AGENT, CRASHED, OK, SIGINT, USAGE
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
from untilgreen.regex import regex
from untilgreen.surfaces.cli.help_layout import Layout, columns
from untilgreen.surfaces.text.printing import forgiving_streams, out, print_problem, tell
from untilgreen.surfaces.text.safe_text import folded, inert
from untilgreen.surfaces.text.streams import lost

_HERE = "untilgreen.surfaces.cli.verbs"
_ANOTHER_DISK = "Make room there, or choose another state directory with --state-dir."
GROUPS = {
    "Start": {
        "run": "run:run",
        "init": "init:init",
        "plan": "plan:plan",
        "check": "check:check",
        "resume": "run:resume",
        "demo": "demo:demo",
    },
    "Inspect": {
        "list": "list:list_runs",
        "show": "show:show",
        "log": "show:log",
        "why": "why:why",
        "diff": "diff_restore:diff",
        "follow": "follow:follow",
        "serve": "serve:serve",
        "report": "report:report",
        "verify": "verify:verify",
    },
    "Control": {
        "answer": "control:answer",
        "steer": "control:steer",
        "pause": "control:pause",
        "stop": "control:stop",
        "cancel": "control:cancel",
    },
    "Files": {
        "apply": "apply:apply",
        "restore": "diff_restore:restore",
        "fork": "fork:fork",
        "prune": "prune:prune",
    },
    "Sessions": {
        "install": "install:install",
        "uninstall": "install:uninstall",
        "session": "session:app",
        "hook": "hook:hook",
        "acp": "acp:acp",
        "mcp": "mcp:mcp",
    },
    "Fleet": {
        "fleet": "fleet:app",
        "worker": "fleet:worker",
    },
    "Setup": {
        "doctor": "doctor:doctor",
        "config": "config:app",
        "trust": "trust:trust",
        "plugins": "plugins:app",
        "schema": "schema:schema",
        "completion": "completion:completion",
        "help": "help:app",
    },
    "Analysis": {
        "learn": "learn:learn",
        "backtest": "backtest:backtest",
        "fingerprint": "fingerprint:fingerprint",
        "export": "export:export",
    },
}
"""The verbs in the order of the help, and where each is; its docstring is its help text."""
VERBS = {verb: place for verbs in GROUPS.values() for verb, place in verbs.items()}
EXPLAINED = ("Start", "Inspect", "Control")
"""Groups whose verbs have a line each in the help of the whole program."""
WITH_A_TASK = ("run", "plan", "fork")
DRIVING = ("run", "resume", "fork", "demo")
"""Verbs whose exit code is the outcome of a run, even if nothing could be shown."""
GUESSES = {
    "status": "untilgreen show, or untilgreen list",
    "ps": "untilgreen list",
    "ls": "untilgreen list",
    "logs": "untilgreen log",
    "watch": "untilgreen follow",
    "attach": "untilgreen follow",
    "tail": "untilgreen follow",
    "top": "untilgreen list, or untilgreen follow",
    "approve": "untilgreen answer RUN approve",
    "reject": "untilgreen answer RUN reject",
    "undo": "untilgreen restore RUN@0, or untilgreen apply RUN --undo",
    "rollback": "untilgreen restore RUN@LAP",
    "kill": "untilgreen cancel",
    "abort": "untilgreen cancel",
    "rm": "untilgreen prune RUN",
    "remove": "untilgreen prune RUN",
    "delete": "untilgreen prune RUN",
    "clean": "untilgreen prune",
    "start": "untilgreen run",
    "continue": "untilgreen resume",
    "retry": "untilgreen fork",
    "test": "untilgreen check",
    "merge": "untilgreen apply",
    "version": "untilgreen --version",
}
"""What other tools call each command."""
_RISKY = regex(r" ?Did you mean --(?:yolo|trust|yes|force|take)\?")
"""Never suggest an option that permits more than was asked for."""
_ECHO = regex(r"Unknown option: (\S{1,200})\. Did you mean \1\?")
_AFTER_DASHES = r"\1 comes after --, so it is not an option. Put it before --."
"""An option that is valid, but in the wrong place."""
ABOUT = "Keep a coding agent working until its gates are green, or stop it with evidence."


def make_app(only: str = "") -> App:
    """The parser; a verb's module is imported only when the verb is used, or its help is.

    With `only` one verb it is faster, since it looks through all verbs for each argument.
    """
    app = App(
        suppress_keyboard_interrupt=False,  # `_call` reports it
        name="untilgreen",
        version=f"untilgreen {__version__}",
        help=ABOUT,
        help_formatter=Layout(),
        default_parameter=Parameter(negative=(), show_default=False),
        group_parameters=Group("Options", sort_key=1),
    )
    for number, (title, verbs) in enumerate(GROUPS.items()):
        group = Group(title, sort_key=number)
        for order, (name, place) in enumerate(verbs.items()):
            if only in ("", name):
                app.command(f"{_HERE}.{place}", name=name, group=group, sort_key=order)
    flags = Group("Options", sort_key=len(GROUPS))
    for flag in ("--help", "--version"):
        app[flag].group = (flags,)
    return app


def reference() -> str:
    """Every verb with its flags, as Markdown; the help, the manual page and docs/reference say the same."""
    return make_app().generate_docs(output_format="markdown", usage_name="untilgreen")


def root_help(app: App) -> list[str]:
    """The verbs that most people need with a line each, the others by name: one screen."""
    import shutil

    width = shutil.get_terminal_size().columns
    lines = [*folded(ABOUT, width), "", "Usage: untilgreen COMMAND [OPTIONS]", ""]
    for title in EXPLAINED:
        rows = [(verb, summary_of(app[verb])) for verb in GROUPS[title]]
        lines += [f"{title}:", *columns(rows, width), ""]
    others = [(title, ", ".join(verbs)) for title, verbs in GROUPS.items() if title not in EXPLAINED]
    lines += ["More commands:", *columns(others, width), ""]
    return [*lines, "`untilgreen COMMAND --help` explains a command, `untilgreen help` other topics."]


def summary_of(verb: App) -> str:
    """The first line of the text about a verb."""
    return str(verb.help or "").strip().partition("\n")[0]


def call(arguments: list[str]) -> int:
    """Run the command line; returns the exit code."""
    with forgiving_streams():
        code = _call(arguments)
    if (error := lost()) and code == OK and (arguments or [""])[0] not in DRIVING:
        print_problem(f"The output can't be written: {error.strerror}.")
        return CRASHED
    return code


def _call(arguments: list[str]) -> int:
    app = make_app(only=arguments[0] if arguments and arguments[0] in VERBS else "")
    if arguments in (["--help"], ["-h"]):
        return _print(root_help(app))
    if not arguments:
        return _print(_overview())
    try:
        if names_a_server(arguments):
            from untilgreen.surfaces.cli.remote import verb_app

            app = verb_app(arguments)
        result = app(
            _with_stdin_named(arguments),
            exit_on_error=False,
            print_error=False,
            help_on_error=False,
            result_action="return_value",
        )
    except CycloptsError as error:
        verb = arguments[0] if arguments and arguments[0] in VERBS else ""
        print_problem(_said(error, arguments), f"untilgreen {verb} --help".replace("  ", " "))
        return USAGE
    except (UserError, JournalLocked, RunGone) as error:
        print_problem(str(error), _help_for(error))
        return USAGE
    except AgentUnavailable as error:
        print_problem(str(error))
        return AGENT
    except JournalError as error:
        print_problem(str(error))
        return CRASHED
    except KeyboardInterrupt:
        tell("")  # start below the question or the ^C
        print_problem("interrupted")
        return SIGINT
    except SystemExit as left:
        if isinstance(left.__context__, BrokenPipeError):  # `--help | head`: the reader has read enough
            return OK
        raise
    except Exception as error:
        return _defect(error)
    return result if isinstance(result, int) else OK


def names_a_server(arguments: list[str]) -> bool:
    """Whether the words before `--` name a server."""
    words = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return any(word == "--server" or word.startswith("--server=") for word in words)


def _overview() -> list[str]:
    from untilgreen.surfaces.cli.options import HERE
    from untilgreen.surfaces.cli.overview import overview

    return overview(HERE.start, HERE.store())


def _print(lines: list[str]) -> int:
    for line in lines:
        out(line)
    return OK


def _said(error: CycloptsError, arguments: list[str]) -> str:
    """The parser's message, or a better one if words are left over."""
    first = arguments[0] if arguments else ""
    if isinstance(error, UnknownCommandError):
        return _unknown_verb(first, str(error))
    if not isinstance(error, UnusedCliTokensError) or not error.unused_tokens:
        return _RISKY.sub("", _ECHO.sub(_AFTER_DASHES, str(error)))
    left = error.unused_tokens[0]
    if first in WITH_A_TASK:
        return f"The task must be one argument, but {left!r} is left over. Put the whole task in quotes."
    below = [name for name in make_app()[first] if not name.startswith("-")]
    return f"`untilgreen {first}` doesn't take {left!r}. {nearest(left, below) if below else ''}".strip()


def _unknown_verb(word: str, otherwise: str) -> str:
    """What other tools call a verb, a misspelled flag, or a flag before its verb."""
    if word in GUESSES:
        return f"There is no command {word!r}. Use: {GUESSES[word]}"
    if not word.startswith("-"):
        return otherwise
    hint = nearest(word, ("--version", "--help"))
    if hint.startswith("Did"):
        return f"There is no option {word!r}. {hint}"
    return f"{word!r} comes before the command. Write the command first: untilgreen COMMAND {word} …"


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
    from untilgreen.engine.loop.resumable_errors import DISK_ERRORS
    from untilgreen.engine.store import run_ids

    cause = only(error)
    seen: set[int] = set()
    while cause.__cause__ is not None and id(cause) not in seen:
        seen.add(id(cause))
        cause = cause.__cause__
    if isinstance(cause, FileNotFoundError) and (run := run_ids.pruned_run(os.fspath(cause.filename or ""))):
        print_problem(str(RunGone(run)))  # pruned while we read it; a reader takes no lock
        return USAGE
    if isinstance(cause, OSError) and cause.errno in DISK_ERRORS:
        place = f" ({inert(str(cause.filename))})" if cause.filename else ""
        print_problem(f"{cause.strerror}{place}. {_ANOTHER_DISK}", "untilgreen doctor")
        return CRASHED
    ours = isinstance(error, UntilgreenError)
    print_problem(str(error) if ours else f"a bug in untilgreen: {type(cause).__name__}: {cause}")
    if os.environ.get("UNTILGREEN_DEBUG"):
        import traceback

        traceback.print_exception(error)
    else:
        print_problem("", "set UNTILGREEN_DEBUG=1 and try again for a traceback")
    return CRASHED
