"""The output of `--json` fits the published schema, for every verb that has the flag."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from cyclopts import App
from jsonschema import Draft202012Validator

from tests.backtest.helpers import record, steps
from tests.backtest.helpers import write as write_records
from tests.surfaces.cli.helpers import Cli, Done, Invoke, write
from untilgreen.surfaces.cli.main import make_app
from untilgreen.surfaces.json_schemas import LINES, SCHEMAS, schema_of


def strict(schema: Any) -> Any:
    """The same schema, but rejecting fields that it does not name."""
    if isinstance(schema, dict):
        closed = {key: strict(value) for key, value in schema.items()}
        if "properties" in closed and closed.get("type") == "object":
            closed.setdefault("additionalProperties", False)
        return closed
    return [strict(each) for each in schema] if isinstance(schema, list) else schema


OUTPUT = Draft202012Validator(strict(schema_of("output")))


def valid(done: Done, code: int = 0) -> Done:
    """Check that every line fits the schema and that the first one states the version."""
    assert done.lines[0] == {"type": "version", "schema": "1.0", "tool": "untilgreen"}
    return fitting(done, code)


def fitting(done: Done, code: int = 0) -> Done:
    assert done.code == code, done.err
    for line in done.lines:
        for error in OUTPUT.iter_errors(line):
            raise AssertionError(f"{json.dumps(line)[:2000]}\n{error.message[:2000]}")
    return done


def a_run(cli: Cli) -> None:
    agent = cli.agent("cat > /dev/null\necho >> notes.txt\necho '<promise>DONE</promise>'\n")
    flags = ("--max-iterations", "2", "--promise", "DONE", "--json", "--set", "labels.team=a")
    valid(cli("run", "Mend it.", "-a", agent, "-g", "echo 'a.py:1: error: no'; false", *flags), 3)


def after_a_run(*arguments: str, code: int = 0) -> Callable[[Cli], None]:
    def check(cli: Cli) -> None:
        a_run(cli)
        valid(cli(*arguments, "--json"), code)

    return check


def _fingerprint(cli: Cli) -> None:
    write(cli.place, {"out.txt": "a.py:1: error: Name 'x' is not defined  [name-defined]\nFound 1 error\n"})
    (line,) = fitting(cli("fingerprint", "out.txt", "--json")).lines
    assert (line["schema"], len(line["findings"])) == ("1.0", 1)


def _trust(cli: Cli) -> None:
    write(cli.place, {"untilgreen.toml": '[gates.t]\nrun = "true"\n'})
    assert cli("trust", "--yes").code == 0
    assert len(valid(cli("trust", "--list", "--json")).lines) == 2


def _list(cli: Cli) -> None:
    a_run(cli)
    (cli.runs / cli.ids[0] / "journal.jsonl").write_text("nonsense\n")
    a_run(cli)
    assert [line["status"] for line in valid(cli("list", "--json")).lines[1:]] == ["exhausted", "damaged"]


def _resume(cli: Cli) -> None:
    flags = ("-a", "cmd:true", "-g", "test -f done", "--json", "--no-input")
    valid(cli("run", "Mend it.", "-s", "manual", *flags), 5)
    write(cli.place, {"done": ""})
    assert cli("answer", "@last", "continue").code == 0
    valid(cli("resume", "--json", "--no-input"))


def _backtest(cli: Cli) -> None:
    write_records(
        cli.place / "runs.jsonl",
        record("a", "again", steps=[*steps("aaaa", attempt=0), *steps("bcd", attempt=1)], success=False),
    )
    assert len(valid(cli("backtest", "--trajectories", "runs.jsonl", "--json")).lines) == 2
    a_run(cli)
    assert {line["type"] for line in valid(cli("backtest", "--runs", "--json")).lines} == {
        "version",
        "strategy",
        "replay",
    }


def _learn(cli: Cli) -> None:
    a_run(cli)
    assert [line["type"] for line in valid(cli("learn", "--json")).lines] == ["version", "lesson"]
    assert [line["type"] for line in valid(cli("learn", "--agents", "--json")).lines] == ["version", "rate"]


def a_session(cli: Cli, verb: str) -> None:
    flags = ("--session", "one", "--agent", "claude", "--gate", "false")
    assert cli("session", "start", "Mend it.", *flags).code == 0
    named = ("--session", "one") if verb == "state" else ()
    assert valid(cli("session", verb, *named, "--json")).lines[1]["session_id"] == "one"


def _report(cli: Cli) -> None:
    """A report is one object over many lines, and must fit its own schema, too."""
    a_run(cli)
    told = json.loads(cli("report", "--format", "json").out)
    for schema in ("output", "report"):
        Draft202012Validator(strict(schema_of(schema))).validate(told)


CALLS: dict[str, Callable[[Cli], object]] = {
    "run": a_run,
    "plan": lambda cli: valid(cli("plan", "Mend it.", "-a", "cmd:true", "-g", "false", "--json")),
    "doctor": lambda cli: valid(cli("doctor", "--json")),
    "check": lambda cli: valid(cli("check", "-g", "true", "-g", "false", "--json"), 1),
    "resume": _resume,
    "list": _list,
    "show": after_a_run("show"),
    "why": after_a_run("why"),
    "verify": after_a_run("verify"),
    "apply": after_a_run("apply"),
    "fork": after_a_run("fork", "@last@1", code=3),
    "prune": after_a_run("prune", "--keep", "0d"),
    "backtest": _backtest,
    "learn": _learn,
    "follow": after_a_run("follow", code=3),
    "fingerprint": _fingerprint,
    "trust": _trust,
    "config show": lambda cli: valid(cli("config", "show", "-g", "true", "--json")),
    "plugins": lambda cli: valid(cli("plugins", "--json")),
    "demo": lambda cli: valid(cli("demo", "--json")),
    "session state": lambda cli: a_session(cli, "state"),
    "session list": lambda cli: a_session(cli, "list"),
    "report": _report,
}
"""A verb that gains `--json` gets a row here."""


def with_json(app: App, name: str = "") -> Iterator[str]:
    """All commands below this one that have a `--json` flag or a `json` format."""
    if getattr(app.default_command, "__module__", "").startswith("untilgreen."):
        for argument in app.assemble_argument_collection():
            if "--json" in argument.names or "json" in (argument.get_choices() or ()):
                yield name
    for word in app:
        if not word.startswith("-"):
            yield from with_json(app[word], f"{name} {word}".strip())


ON_SERVERS = "fleet workers"
"""It needs a fleet, so `tests/fleet/test_overview.py` checks it against the schema."""


def test_no_command_with_json_is_left_out() -> None:
    assert sorted(with_json(make_app())) == sorted([*CALLS, ON_SERVERS])


def test_every_kind_of_line_has_its_own_type() -> None:
    types = [str(line.__struct_config__.tag) for line in LINES]

    assert sorted(types) == sorted(set(types))


@pytest.mark.parametrize("verb", CALLS)
def test_what_a_verb_prints_as_json_fits_the_published_schema(cli: Cli, verb: str) -> None:
    cli.env["TMPDIR"] = str(cli.tmp)
    CALLS[verb](cli)


def test_a_line_outside_the_schema_does_not_fit() -> None:
    line = {"type": "version", "schema": "1.0", "tool": "untilgreen"}

    assert OUTPUT.is_valid(line)
    assert not OUTPUT.is_valid(line | {"type": "other"})
    assert not OUTPUT.is_valid(line | {"more": 1})


@pytest.mark.parametrize("name", SCHEMAS)
def test_each_schema_is_printed_and_is_valid(invoke: Invoke, name: str) -> None:
    done = invoke("schema", name)
    schema = json.loads(done.out)

    assert done.code == 0
    Draft202012Validator.check_schema(schema)
    assert schema == msgspec.json.decode(msgspec.json.encode(schema_of(name)))


def test_the_events_of_a_journal_fit_their_schema(cli: Cli) -> None:
    a_run(cli)
    validator = Draft202012Validator(strict(schema_of("events")))

    events = cli.journal(cli.ids[0])

    assert len(events) > 10
    assert [error.message for event in events for error in validator.iter_errors(event)] == []


def test_an_unknown_schema_is_answered_with_the_nearest(invoke: Invoke) -> None:
    assert "Did you mean 'events'?" in invoke("schema", "evnts").err
