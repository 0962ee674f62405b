"""One table of all parsers that read what an agent, a tool or a repository wrote.

A target takes bytes and returns what its parser made of them; it may raise only the errors that it names.
`tests/fuzz/test_parsers.py` tries each for a moment, `make fuzz` for as long as you like.
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
from untilgreen.agents.kit import json_lines
from untilgreen.agents.kit.error_classes import cause_of, status_in
from untilgreen.agents.kit.retry_times import retry_at
from untilgreen.agents.kit.turn import GaveUp, Turn
from untilgreen.backtest import trajectories
from untilgreen.config.init import detect
from untilgreen.config.sources import find
from untilgreen.config.sources.toml_lines import line_of
from untilgreen.core.briefing import claims, excerpt
from untilgreen.core.values import fingerprint
from untilgreen.core.values.model import Finding, Promise, Verdict
from untilgreen.core.values.secrets import Secrets
from untilgreen.engine.store import catalog, inbox, lock
from untilgreen.engine.store.notes import session_notes
from untilgreen.errors import ConfigError, JournalError, UserError, WorkspaceNotReady
from untilgreen.gates import ci, judge
from untilgreen.gates.integrity import explanations
from untilgreen.gates.integrity.protected import cmake_tests, loaded_files, mixed_files, rust_inline_tests
from untilgreen.gates.levels import blackbox, contract
from untilgreen.gates.levels.work_files import Files
from untilgreen.gates.output.plain_text import MakeRelative, lines_of, plain
from untilgreen.gates.output.recognize import DOCUMENTS, TOOLS, errors_in, recognize
from untilgreen.gates.output.report_files import FORMATS, reader_of
from untilgreen.gates.output.tool_result import MOST_FINDINGS, BadReport, ToolResult
from untilgreen.journal import codec
from untilgreen.ports import CheckContext, TurnContext
from untilgreen.process import tree_note
from untilgreen.surfaces.hook import answers, payload, slash_commands, transcripts
from untilgreen.surfaces.install import file_edits
from untilgreen.surfaces.install.targets import Transcript
from untilgreen.surfaces.report import escaping
from untilgreen.surfaces.text import safe_text

TESTS = Path(__file__).parent.parent
LONGEST_EVENT = 64_000
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that move the cursor or change the text direction, except for line ends and tabs."""


class Target(NamedTuple):
    """One parser: its module, how to call it, what it may raise, and where its examples are."""

    module: str
    play: Callable[[bytes], object]
    raises: tuple[type[Exception], ...] = ()
    seeds: tuple[str, ...] = ()
    """Patterns of files below tests/."""
    examples: tuple[bytes, ...] = ()
    """Inputs that get far in the parser, for which there are no files."""


def read_as_text(data: bytes) -> str:
    """Decode bytes like the output of a process."""
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


def of_report(read: Callable[[BinaryIO, MakeRelative], ToolResult]) -> Callable[[bytes], object]:
    return lambda data: read(BytesIO(data), str)


def heard(agent: str) -> Callable[[bytes], object]:
    """A whole turn of an agent: every line of its streams, and the reply."""
    module = importlib.import_module(f"untilgreen.agents.{agent}")

    def play(data: bytes) -> object:
        turn = Turn(context=TurnContext(root=Path("/nowhere")))
        try:
            for line in read_as_text(data).split("\n"):
                if (event := json_lines.read(line)) is not None and hasattr(module, "hear"):
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
    """A verdict with any text fits into an event."""
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
    """No text that is shown can move the cursor, change the text direction, or contain markup."""
    said = read_as_text(data)
    for line in (safe_text.inert(said), safe_text.short(said, 60)):
        assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", line)
    assert not CONTROLS.search(safe_text.inert_lines(said))
    assert safe_text.columns_of(safe_text.short(said, 60)) <= 60
    for html in (escaping.in_html(said), escaping.lines_in_html(said)):
        assert "<" not in html
    assert "\n" not in escaping.cell(said)
    fence, *inside, _ = escaping.fenced(said).split("\n")
    assert not any(fence in line for line in inside)
    return escaping.code(said)


def cut(data: bytes) -> object:
    """A secret is cut out of any text around it."""
    secrets = Secrets({"API_TOKEN": "correct-horse-battery"})
    said = read_as_text(data) + "correct-horse-battery" + read_as_text(data)
    clean = secrets.redact(said)
    assert "correct-horse-battery" not in clean
    return clean


def swapped(name: str) -> Callable[[bytes], object]:
    return lambda data: (
        mixed_files.swap(name, b"", data),
        mixed_files.swap(name, data, b""),
        mixed_files.swap(name, *_halves(data)),
    )


def _halves(data: bytes) -> tuple[bytes, bytes]:
    return data[: len(data) // 2], data[len(data) // 2 :]


def explained(data: bytes) -> object:
    old, new = map(read_as_text, _halves(data))
    return explanations.explain("tests/test_a.py", "M", old, new), explanations.find_renamed(
        old, [("b.py", new)]
    )


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
        return list(blackbox._json(case, read_as_text(data), CheckContext(root=Path(folder))))


def ruled(data: bytes) -> object:
    names = ("a.json", "a.toml")
    with TemporaryDirectory() as folder:
        for name in names:
            (Path(folder) / name).write_bytes(data)
        rules = [contract.DataRule(file=name, has="a.b", type="string", matches="a+") for name in names]
        context = CheckContext(root=Path(folder))
        return [list(contract._data(rule, context, Files(context.root, names))) for rule in rules]


def transcript(agent: Transcript) -> Callable[[bytes], object]:
    """The last message of a lap; the record that the reader waits for is there, so that it doesn't wait."""
    stamped = b'\n{"data":{"input":{"timestamp":7,"transcriptPath":"a"}}}\n'

    def read(path: Path) -> object:
        given = payload.Payload(transcript=str(path), stamp=7)
        return anyio.run(transcripts.completed, agent, given, 0.0)

    return lambda data: of_file(read)(data + stamped)


def settings(data: bytes) -> object:
    return of_file(file_edits.our_hooks, "settings.json")(data)


def answered(data: bytes) -> object:
    """Every answer of a hook is JSON, and the parts that a person sees contain no control characters."""
    said = read_as_text(data)
    for agent in ("claude", "copilot", "gemini", "opencode"):
        for answer in (answers.Answer(brief=said, toast=said), answers.Answer(refused=said, toast=said)):
            for event in ("prompt", "stop"):
                told = msgspec.json.decode(answers.written(answer, event, agent) or b"{}")
                shown = [told.get(name, "") for name in ("systemMessage", "toast", "refused")]
                shown += [told["reason"]] if answer.refused and "reason" in told else []
                assert not any(map(CONTROLS.search, shown))
    return None


def cataloged(data: bytes) -> object:
    return [of_file(catalog._read)(each) for each in (data, catalog._mark(data) + data)]


TARGETS: dict[str, Target] = {
    **{
        f"report{end}": Target(
            "gates/output/reports",
            of_report(reader_of(end)),
            (BadReport,),
            (),
            REPORTS.get(end, ()),
        )
        for end in FORMATS
    },
    "output": Target("gates/output/parsers", of_text(recognize), (), ("gates/recognize/**/*.txt",)),
    "errors": Target("gates/output/parsers", of_text(errors_in), (), ("gates/recognize/**/*.txt",)),
    **{
        f"output-{name}": Target(
            "gates/output/parsers", of_lines(tool.read), (), (f"gates/recognize/**/{name}*",)
        )
        for name, tool in TOOLS.items()
    },
    **{
        f"document-{name}": Target("gates/output/parsers", of_text(tool.read), (), (), DOCUMENT)
        for name, tool in DOCUMENTS.items()
    },
    **{
        f"agent-{name}": Target(f"agents/{name}.py", heard(name), (), (f"agents/streams/{name}-*.jsonl",))
        for name in ("aider", "claude", "codex", "copilot", "gemini", "goose", "opencode", "qwen")
    },
    "stream": Target("agents/kit/json_lines.py", of_text(json_lines.read), (), ("agents/streams/*.jsonl",)),
    "usage": Target(
        "agents/command.py",
        of_file(lambda path: command_agent._used(path, lambda told: None)),
        (),
        (),
        HALVES,
    ),
    "causes": Target(
        "agents/kit/error_classes.py",
        of_text(lambda said: (cause_of(said), status_in(said))),
        (),
        (),
        TROUBLE,
    ),
    "moments": Target(
        "agents/kit/retry_times.py", of_text(lambda said: retry_at(said, 1_785_000_000.0)), (), (), TROUBLE
    ),
    "judge": Target(
        "gates/judge.py", judged, (), (), (b'{"verdict": "fail", "reasons": ["a"], "score": 1}',)
    ),
    "ci": Target("gates/ci.py", of_text(ci.parse_checks), (ci.Unanswered,)),
    "blackbox": Target("gates/levels", boxed),
    "contract": Target("gates/levels", ruled),
    **{
        f"sections-{name}": Target("gates/integrity/protected/mixed_files.py", swapped(name))
        for name in ("pyproject.toml", "package.json", "setup.cfg", "Cargo.toml")
    },
    "git-differences": Target(
        "workspace/git/private_index.py", repositories.differing, (), (), repositories.NAMES
    ),
    "git-entries": Target("workspace/git/index_seed.py", repositories.listed, (), (), repositories.NAMES),
    "git-trees": Target("workspace/git/tree_patch.py", repositories.grafting, (), (), repositories.NAMES),
    "git-ground": Target("workspace/git/repository.py", repositories.ground, (WorkspaceNotReady,)),
    "git-head": Target("workspace/git/head.py", repositories.head, (), (), (b"ref: HEAD\n", b"ref: a\0b\n")),
    "git-gc": Target("workspace/git/gc_guard.py", repositories.noted, (), (), (b"1", b"9" * 30)),
    "git-worktrees": Target(
        "workspace/worktree.py", repositories.worktrees, (), (), (b"../../w/.git\n", b"a\0b")
    ),
    "git-ref": Target("workspace/git/snapshot_refs.py", repositories.ref),
    "matching": Target("gates/levels/work_files.py", repositories.matching, (), (), repositories.NAMES),
    "sanity": Target("gates/levels/sanity.py", repositories.sane, (), (), (b"breakpoint()\n",)),
    "protect": Target(
        "gates/integrity/protected/protection.py", repositories.protecting, (), (), repositories.NAMES
    ),
    "commands": Target(
        "gates/integrity/protected/executed_files.py",
        repositories.executed,
        (),
        (),
        (b"cd a && uv run pytest -p x tests::a; python3 -m unittest | sh -c 'node --test a.js'",),
    ),
    "followed": Target(
        "gates/integrity/protected/followed_files.py",
        repositories.followed,
        (),
        (),
        (b"sh a.sh && . ./b.sh", b"test:\n\t@sh check.sh\n", b'{"scripts": {"test": "sh check.sh"}}'),
    ),
    "cmake": Target(
        "gates/integrity/protected/cmake_tests.py",
        lambda data: cmake_tests.swap_cmake(*_halves(data)),
        (),
        (),
        (b"add_test(NAME a COMMAND b)", b"set_tests_properties(a PROPERTIES WILL_FAIL 1)", b"if(X)\nendif()"),
    ),
    "inline": Target(
        "gates/integrity/protected/rust_inline_tests.py",
        lambda data: rust_inline_tests.swap_inline(*_halves(data)),
    ),
    "loaded": Target(
        "gates/integrity/protected/loaded_files.py",
        of_text(lambda said: loaded_files.files_loaded_by("conftest.py", said, ["a.py"])),
    ),
    "explained": Target("gates/integrity/explanations.py", explained),
    "claims": Target("core/briefing/claims.py", claimed),
    "excerpt": Target("core/briefing/excerpt.py", kept),
    "fingerprint": Target(
        "core/values/fingerprint.py",
        of_text(lambda said: (fingerprint.fingerprint(said), fingerprint.sketch(said))),
    ),
    "secrets": Target("core/values/secrets.py", cut),
    "plain": Target("gates/output/plain_text.py", of_text(plain)),
    "shown": Target("surfaces/text/safe_text.py", shown),
    "payload": Target("surfaces/hook/payload.py", payload.read, (), (), PAYLOADS),
    **{
        f"transcript-{name}": Target("surfaces/hook/transcripts.py", transcript(name))
        for name in transcripts.READERS
    },
    "trajectory": Target(
        "backtest/trajectories.py", lambda data: trajectories.parse(data, 1, "a"), (UserError,)
    ),
    "answers": Target("surfaces/hook/answers.py", answered),
    "prompt": Target("surfaces/hook/slash_commands.py", of_text(slash_commands.command_of)),
    "flags": Target("surfaces/hook/slash_commands.py", of_text(slash_commands.parse), (UserError,)),
    "settings": Target("surfaces/install/file_edits.py", settings, (UserError,)),
    "inbox": Target("engine/store/inbox.py", of_file(inbox._opened), (), (), LETTERS),
    "lock": Target("engine/store/lock.py", of_file(lock._named_owner, "lock"), (), (), HALVES),
    "sessions": Target("engine/store/notes/session_notes.py", of_file(session_notes._read), (), (), HALVES),
    "catalog": Target("engine/store/catalog.py", cataloged),
    "note": Target("process/tree_note.py", of_file(tree_note.read_notes), (), (), HALVES),
    "journal": Target("journal/codec.py", codec.decode, (JournalError,), ("journals/v1/*",)),
    "spec": Target("config/sources/find.py", spec, (ConfigError,)),
    **{
        f"project-{name}": Target("config/init/detect.py", project(name))
        for name in ("package.json", "pyproject.toml", "Makefile", "justfile")
    },
}


def play(target: Target, data: bytes) -> None:
    """Let a target read the data; its result must be encodable and within the limits."""
    try:
        found = target.play(data)
    except target.raises:
        return
    if isinstance(found, ToolResult):
        assert len(found.findings) <= MOST_FINDINGS
    if isinstance(found, msgspec.Struct):
        msgspec.json.encode(found, enc_hook=_as_text)


def _as_text(value: Any) -> Any:
    return str(value)


def seeds(target: Target) -> Iterator[bytes]:
    """The target's own examples, and those from files of other tests."""
    yield from target.examples
    for pattern in target.seeds:
        for path in sorted(TESTS.glob(pattern)):
            if path.is_file() and PurePosixPath(path).suffix != ".py":
                yield path.read_bytes()[:200_000]
