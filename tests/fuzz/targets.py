"""Every parser that reads what an agent, a tool or a repository wrote, in one table.

A target gets bytes and gives what its parser made of them; only the errors that it names may come instead.
`tests/fuzz/test_parsers.py` plays to each for a moment, `make fuzz` for as long as one likes.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, NamedTuple

import anyio
import msgspec

from tests.fuzz import repositories
from tests.fuzz.examples import DOCUMENT, HALVES, LETTERS, PAYLOADS, REPORTS, TROUBLE
from untilgreen.agents import command as command_agent
from untilgreen.agents import stream
from untilgreen.agents.causes import cause_of, status_in
from untilgreen.agents.moments import retry_at
from untilgreen.agents.turn import GaveUp, Turn
from untilgreen.backtest import trajectories
from untilgreen.config import detect, find
from untilgreen.config.lines import line_of
from untilgreen.core import claims, excerpt, fingerprint
from untilgreen.core.model import Finding, Promise, Verdict
from untilgreen.core.secrets import Secrets
from untilgreen.engine import catalogue, inbox, lock, sessions
from untilgreen.errors import ConfigError, JournalError, UserError, WorkspaceNotReady
from untilgreen.gates import ci, judge
from untilgreen.gates.integrity import inline, loaded, sections, words
from untilgreen.gates.levels import blackbox, contract
from untilgreen.gates.levels.tree import Files
from untilgreen.gates.recognise import DOCUMENTS, TOOLS, errors_in, recognise
from untilgreen.gates.reports import FORMATS
from untilgreen.gates.reports.trouble import Unusable
from untilgreen.gates.seen import MOST_FINDINGS, Seen
from untilgreen.gates.text import Here, lines_of, plain
from untilgreen.journal import codec
from untilgreen.ports import Desk, Site
from untilgreen.process import note
from untilgreen.surfaces import text
from untilgreen.surfaces.hook import answers, payload, prompts, transcripts
from untilgreen.surfaces.installing import edits
from untilgreen.surfaces.report import marks

TESTS = Path(__file__).parent.parent
LONGEST_EVENT = 64_000
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What moves a cursor or turns a line around; line ends and tabs do not."""


class Target(NamedTuple):
    """One parser: where it is, how it is called, what it may raise, and where examples are."""

    module: str
    play: Callable[[bytes], object]
    raises: tuple[type[Exception], ...] = ()
    seeds: tuple[str, ...] = ()
    """Files below tests/, as patterns."""
    examples: tuple[bytes, ...] = ()
    """Inputs that reach far where no file does."""


def read_as_text(data: bytes) -> str:
    """As the outputs of processes are read."""
    return data.decode("utf-8", "replace")


def of_text(read: Callable[[str], object]) -> Callable[[bytes], object]:
    return lambda data: read(read_as_text(data))


def of_lines(read: Callable[[list[str]], object]) -> Callable[[bytes], object]:
    return lambda data: read(lines_of(read_as_text(data)))


def of_file(read: Callable[[Path], object], name: str = "file.json") -> Callable[[bytes], object]:
    def play(data: bytes) -> object:
        with TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.write_bytes(data)
            return read(path)

    return play


def of_report(read: Callable[[BinaryIO, Here], Seen]) -> Callable[[bytes], object]:
    return lambda data: read(BytesIO(data), str)


def heard(agent: str) -> Callable[[bytes], object]:
    """A whole turn of an agent: every line of its streams, and what the turn comes to."""
    module = importlib.import_module(f"untilgreen.agents.{agent}")

    def play(data: bytes) -> object:
        turn = Turn(desk=Desk(root=Path("/nowhere")))
        try:
            for line in read_as_text(data).split("\n"):
                if (event := stream.read(line)) is not None and hasattr(module, "hear"):
                    module.hear(event, turn)
                for listen in ("hear_error", "hear_line"):
                    if hasattr(module, listen):
                        getattr(module, listen)(line, turn)
        except GaveUp:
            pass
        reply = excerpt.kept_reply(turn.reply(None))
        assert len(msgspec.json.encode(reply)) < LONGEST_EVENT
        return reply

    return play


def judged(data: bytes) -> object:
    return excerpt.kept_verdict(judge.judged(read_as_text(data)))


def kept(data: bytes) -> object:
    """A verdict of any words fits into an event."""
    said = read_as_text(data)
    found = Finding(id=said[:500], message=said, file=said[:90])
    verdict = excerpt.kept_verdict(Verdict(status="fail", findings=(found,) * 30, excerpt=said))
    assert len(msgspec.json.encode(verdict)) < LONGEST_EVENT
    return verdict


def claimed(data: bytes) -> object:
    said = read_as_text(data)
    promise = Promise(text="DONE")
    answers = [claims.claimed(said, brief, promise) for brief in ("Say DONE when it is done.", said)]
    assert answers[1] is False or said == "" or "DONE" in said
    return answers


def shown(data: bytes) -> object:
    """Whatever is shown can't move a cursor, turn a line around, or be markup."""
    said = read_as_text(data)
    for line in (text.inert(said), text.short(said, 60)):
        assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", line)
    assert not CONTROLS.search(text.inert_lines(said))
    assert text.places(text.short(said, 60)) <= 60
    for html in (marks.in_html(said), marks.lines_in_html(said)):
        assert "<" not in html
    assert "\n" not in marks.cell(said)
    fence, *inside, _ = marks.fenced(said).split("\n")
    assert not any(fence in line for line in inside)
    return marks.code(said)


def cut(data: bytes) -> object:
    """A secret is gone from every text that holds it, also from one that came in two pieces."""
    secrets = Secrets({"API_TOKEN": "correct-horse-battery"})
    said = read_as_text(data) + "correct-horse-battery" + read_as_text(data)
    clean = secrets.cut(said)
    assert "correct-horse-battery" not in clean
    return clean


def swapped(name: str) -> Callable[[bytes], object]:
    return lambda data: (
        sections.swap(name, b"", data),
        sections.swap(name, data, b""),
        sections.swap(name, *_halves(data)),
    )


def _halves(data: bytes) -> tuple[bytes, bytes]:
    return data[: len(data) // 2], data[len(data) // 2 :]


def explained(data: bytes) -> object:
    old, new = map(read_as_text, _halves(data))
    return words.explained("tests/test_a.py", "M", old, new), words.renamed(old, [("b.py", new)])


def spec(data: bytes) -> object:
    def read(path: Path) -> object:
        values, source = find.read(path)
        return values, [source.place((key,)) for key in values], line_of(read_as_text(data), tuple(values))

    return of_file(read, "untilgreen.toml")(data)


def project(name: str) -> Callable[[bytes], object]:
    return of_file(lambda path: detect.detect(path.parent), name)


def boxed(data: bytes) -> object:
    case = blackbox.Case(run="true", json_schema="schema.json", json={"a": 1})
    with TemporaryDirectory() as folder:
        (Path(folder) / "schema.json").write_text('{"type": "object"}')
        return list(blackbox._json(case, read_as_text(data), Site(root=Path(folder))))


def ruled(data: bytes) -> object:
    names = ("a.json", "a.toml")
    with TemporaryDirectory() as folder:
        for name in names:
            (Path(folder) / name).write_bytes(data)
        rules = [contract.DataRule(file=name, has="a.b", type="string", matches="a+") for name in names]
        site = Site(root=Path(folder))
        return [list(contract._data(rule, site, Files(site.root, names))) for rule in rules]


def transcript(agent: str) -> Callable[[bytes], object]:
    """The last words of a lap; the record that is waited for is there, so that nothing waits."""
    stamped = b'\n{"data":{"input":{"timestamp":7,"transcriptPath":"a"}}}\n'

    def read(path: Path) -> object:
        given = payload.Payload(transcript=str(path), stamp=7)
        return anyio.run(transcripts.completed, agent, given, 0.0)

    return lambda data: of_file(read)(data + stamped)


def settings(data: bytes) -> object:
    return of_file(edits.ours, "settings.json")(data)


def answered(data: bytes) -> object:
    """Whatever a hook has to say is JSON, and what a person is shown of it can't do anything."""
    said = read_as_text(data)
    for agent in ("claude", "copilot", "gemini", "opencode"):
        for answer in (answers.Answer(brief=said, toast=said), answers.Answer(refused=said, toast=said)):
            for event in ("prompt", "stop"):
                told = msgspec.json.decode(answers.written(answer, event, agent) or b"{}")
                shown = [told.get(name, "") for name in ("systemMessage", "toast", "refused")]
                shown += [told["reason"]] if answer.refused and "reason" in told else []
                assert not any(map(CONTROLS.search, shown))
    return None


def catalogued(data: bytes) -> object:
    return [of_file(catalogue._read)(each) for each in (data, catalogue._mark(data) + data)]


TARGETS: dict[str, Target] = {
    **{
        f"report{end}": Target(
            "gates/reports",
            of_report(read),
            (Unusable,),
            (),
            REPORTS.get(end, ()),
        )
        for end, read in FORMATS.items()
    },
    "output": Target("gates/recognise", of_text(recognise), (), ("gates/recognise/**/*.txt",)),
    "errors": Target("gates/recognise", of_text(errors_in), (), ("gates/recognise/**/*.txt",)),
    **{
        f"output-{name}": Target("gates/recognise", of_lines(tool.read), (), (f"gates/recognise/**/{name}*",))
        for name, tool in TOOLS.items()
    },
    **{
        f"document-{name}": Target("gates/recognise", of_text(read), (), (), DOCUMENT)
        for name, read in DOCUMENTS.items()
    },
    **{
        f"agent-{name}": Target(f"agents/{name}.py", heard(name), (), (f"agents/streams/{name}-*.jsonl",))
        for name in ("aider", "claude", "codex", "copilot", "gemini", "goose", "opencode", "qwen")
    },
    "stream": Target("agents/stream.py", of_text(stream.read), (), ("agents/streams/*.jsonl",)),
    "usage": Target(
        "agents/command.py",
        of_file(lambda path: command_agent._used(path, lambda told: None)),
        (),
        (),
        HALVES,
    ),
    "causes": Target(
        "agents/causes.py", of_text(lambda said: (cause_of(said), status_in(said))), (), (), TROUBLE
    ),
    "moments": Target(
        "agents/moments.py", of_text(lambda said: retry_at(said, 1_785_000_000.0)), (), (), TROUBLE
    ),
    "judge": Target(
        "gates/judge.py", judged, (), (), (b'{"verdict": "fail", "reasons": ["a"], "score": 1}',)
    ),
    "ci": Target("gates/ci.py", of_text(ci.told), (ci.Unanswered,)),
    "blackbox": Target("gates/levels", boxed),
    "contract": Target("gates/levels", ruled),
    **{
        f"sections-{name}": Target("gates/integrity/sections.py", swapped(name))
        for name in ("pyproject.toml", "package.json", "setup.cfg", "Cargo.toml")
    },
    "git-differences": Target("workspace/index.py", repositories.differing, (), (), repositories.NAMES),
    "git-entries": Target("workspace/seed.py", repositories.listed, (), (), repositories.NAMES),
    "git-trees": Target("workspace/graft.py", repositories.grafting, (), (), repositories.NAMES),
    "git-ground": Target("workspace/ground.py", repositories.ground, (WorkspaceNotReady,)),
    "git-head": Target("workspace/history.py", repositories.head, (), (), (b"ref: HEAD\n", b"ref: a\0b\n")),
    "git-gc": Target("workspace/collecting.py", repositories.noted, (), (), (b"1", b"9" * 30)),
    "git-worktrees": Target(
        "workspace/worktree.py", repositories.worktrees, (), (), (b"../../w/.git\n", b"a\0b")
    ),
    "git-ref": Target("workspace/refs.py", repositories.ref),
    "matching": Target("gates/levels/tree.py", repositories.matching, (), (), repositories.NAMES),
    "sanity": Target("gates/levels/sanity.py", repositories.sane, (), (), (b"breakpoint()\n",)),
    "protect": Target("gates/integrity/protect.py", repositories.protecting, (), (), repositories.NAMES),
    "commands": Target(
        "gates/integrity/commands.py",
        repositories.executed,
        (),
        (),
        (b"cd a && uv run pytest -p x tests::a; python3 -m unittest | sh -c 'node --test a.js'",),
    ),
    "inline": Target("gates/integrity/inline.py", lambda data: inline.swap_inline(*_halves(data))),
    "loaded": Target(
        "gates/integrity/loaded.py", of_text(lambda said: loaded.named_in("conftest.py", said, ["a.py"]))
    ),
    "explained": Target("gates/integrity/words.py", explained),
    "claims": Target("core/claims.py", claimed),
    "excerpt": Target("core/excerpt.py", kept),
    "fingerprint": Target(
        "core/fingerprint.py", of_text(lambda said: (fingerprint.fingerprint(said), fingerprint.sketch(said)))
    ),
    "secrets": Target("core/secrets.py", cut),
    "plain": Target("gates/text.py", of_text(plain)),
    "shown": Target("surfaces/text.py", shown),
    "payload": Target("surfaces/hook/payload.py", payload.read, (), (), PAYLOADS),
    **{
        f"transcript-{name}": Target("surfaces/hook/transcripts.py", transcript(name))
        for name in transcripts.READERS
    },
    "trajectory": Target(
        "backtest/trajectories.py", lambda data: trajectories.parse(data, 1, "a"), (UserError,)
    ),
    "answers": Target("surfaces/hook/answers.py", answered),
    "prompt": Target("surfaces/hook/prompts.py", of_text(prompts.command_of)),
    "flags": Target("surfaces/hook/prompts.py", of_text(prompts.parse), (UserError,)),
    "settings": Target("surfaces/installing/edits.py", settings, (UserError,)),
    "inbox": Target("engine/inbox.py", of_file(inbox._opened), (), (), LETTERS),
    "lock": Target("engine/lock.py", of_file(lock._introduced, "lock"), (), (), HALVES),
    "sessions": Target("engine/sessions.py", of_file(sessions._read), (), (), HALVES),
    "catalogue": Target("engine/catalogue.py", catalogued),
    "note": Target("process/note.py", of_file(note.read_note), (), (), HALVES),
    "journal": Target("journal/codec.py", codec.decode, (JournalError,), ("journals/v1/*",)),
    "spec": Target("config/find.py", spec, (ConfigError,)),
    **{
        f"project-{name}": Target("config/detect.py", project(name))
        for name in ("package.json", "pyproject.toml", "Makefile", "justfile")
    },
}


def play(target: Target, data: bytes) -> None:
    """Let it read; what comes of it can be kept in a journal, and says no more than it may."""
    try:
        found = target.play(data)
    except target.raises:
        return
    if isinstance(found, Seen):
        assert len(found.findings) <= MOST_FINDINGS
    if isinstance(found, msgspec.Struct):
        msgspec.json.encode(found, enc_hook=_as_text)


def _as_text(value: Any) -> Any:
    return str(value)


def seeds(target: Target) -> Iterator[bytes]:
    """Examples from the other tests, and the target's own."""
    yield from target.examples
    for pattern in target.seeds:
        for path in sorted(TESTS.glob(pattern)):
            if path.is_file() and PurePosixPath(path).suffix != ".py":
                yield path.read_bytes()[:200_000]
