"""No parser of untrusted text crashes or takes too long.

The longer version is `make fuzz`.
"""

import ast
import re
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from time import process_time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import untilgreen
from untilgreen.agents.kit.error_classes import cause_of
from untilgreen.agents.kit.retry_times import retry_at
from untilgreen.config.sources import safe_toml
from untilgreen.core.briefing.claims import claimed
from untilgreen.core.values.model import Promise
from untilgreen.core.values.secrets import Secrets

from .bombs import bombs
from .targets import TARGETS, play, seeds

SOURCE = Path(untilgreen.__file__).parent
BOMB_BYTES = 50_000
BOMBS = 12
BOMB_SECONDS = 10.0
"""CPU time, where hundredths are usual: this catches quadratic time and worse, but not a busy machine."""
SECONDS = 60.0
"""CPU time for the long texts below."""
NOT_FOREIGN = {
    "client.py": "answers of a server that a person named",
    "engine/store/activity_log.py": "our own lines in the run's folder",
    "engine/store/hub.py": "events that were decoded before",
    "engine/store/run_folder.py": "our own meta.json",
    "fleet/driver.py": "orders of our own worker",
    "fleet/overview.py": "rows and lines that our own drivers wrote",
    "fleet/runs/premises.py": "our own note on the worker",
    "fleet/runs/record.py": "rows that our own drivers wrote",
    "fleet/runs/records.py": "rows that our own drivers wrote",
    "fleet/worker.py": "lines of our own driver",
    "process/sandbox/room_entry.py": "the arguments of our own process",
    "surfaces/acp/wire.py": "an editor's requests; its tests send nonsense",
    "surfaces/web/application.py": "requests behind the token; its tests fuzz every operation",
    "surfaces/web/people.py": "a file that a person named, and that no other user can write",
    "testing/acp_agent.py": "a script for tests",
    "config/sources/toml_lines.py": "positions in a text that find.py has parsed",
    "config/sources/from_text.py": "values of flags, which a person typed",
    "engine/operations/apply.py": "our own note in the state directory",
    "engine/store/catalog.py": "our own file, checked by its digest",
    "engine/store/notes/lesson_book.py": "our own file in the state directory; if damaged, learned again",
    "engine/wiring/learned.py": "a file of this package",
    "workspace/in_place.py": "our own note in the state directory",
    "engine/store/artifacts.py": "our own note in the run's folder",
    "engine/store/runs.py": "our own meta.json",
    "engine/store/notes/trust_book.py": "our own list in the state directory",
    "engine/worktree/setup.py": "our own note in the state directory",
    "surfaces/cli/verbs/backtest.py": "a file that a person named",
    "surfaces/cli/verbs/schema.py": "writes only",
    "surfaces/install/codex_trust.py": "a person's own settings",
    "surfaces/install/hook_health.py": "a person's own settings",
    "testing/model/scenario.py": "a scenario that a tester wrote",
    "testing/model/server.py": "requests to a server for tests",
    "workspace/restore.py": "our own note in the state directory",
}
"""Modules that decode something, and why no agent can have written it."""

pieces = st.one_of(
    st.binary(max_size=300),
    st.text(max_size=300).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
        max_leaves=12,
    ).map(lambda value: repr(value).replace("'", '"').encode("utf-8", "surrogatepass")),
)


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_nothing_that_others_write_makes_a_parser_fall_over(name: str, data: st.DataObject) -> None:
    target = TARGETS[name]
    examples = list(seeds(target))
    written = data.draw(pieces)
    if examples:
        example = data.draw(st.sampled_from(examples))[:20_000]
        begin = data.draw(st.integers(0, len(example)))
        end = data.draw(st.integers(begin, len(example)))
        written = example[:begin] + written + example[end:]

    play(target, written)


def test_examples_are_read_as_they_are() -> None:
    for name, target in TARGETS.items():
        for example in target.examples:
            try:
                play(target, example)
            except Exception as error:
                error.add_note(f"{name} was played {example!r}.")
                raise


@pytest.mark.parametrize("name", TARGETS)
def test_what_was_made_to_be_costly_costs_little(name: str) -> None:
    """Tries some of the bombs, different ones each day; `make fuzz` tries all, and larger ones."""
    costly = list(bombs(BOMB_BYTES))
    for number in Random(f"{datetime.now(UTC).date()} {name}").sample(range(len(costly)), BOMBS):
        begun = process_time()
        try:
            play(TARGETS[name], costly[number])
        except Exception as error:
            error.add_note(f"It was played list(bombs({BOMB_BYTES}))[{number}].")
            raise
        took = process_time() - begun

        assert took < BOMB_SECONDS, f"list(bombs({BOMB_BYTES}))[{number}] is {costly[number][:40]!r}…"


def test_every_module_that_decodes_something_has_a_target_or_a_reason() -> None:
    modules = {target.module for target in TARGETS.values()}
    decodes = re.compile(
        r"json\.decode|Decoder\(|json\.loads|tomllib\.loads|toml\.loads|XMLParser|raw_decode"
    )
    forgotten = []
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE).as_posix()
        known = place in NOT_FOREIGN or any(place.startswith(module) for module in modules)
        if not known and place != "config/sources/safe_toml.py" and decodes.search(_code(path)):
            forgotten.append(place)

    assert forgotten == [], "add a row to tests/fuzz/targets.py, or a reason here"


def test_every_reader_of_an_agents_stream_has_a_target() -> None:
    readers = {
        path.stem
        for path in (SOURCE / "agents").glob("*.py")
        if re.search(r"^def hear(_\w+)?\(", path.read_text(), re.M)
    }

    assert {f"agent-{reader}" for reader in readers} <= set(TARGETS)


def _code(path: Path) -> str:
    """The code of a module without comments."""
    return ast.unparse(ast.parse(path.read_text()))


@pytest.mark.parametrize("deep", ['{"a":' * 100_000, '{"a":[' * 100_000, "[" * 100_000])
@pytest.mark.parametrize(
    "name",
    [
        "stream",
        "usage",
        "payload",
        "ci",
        "blackbox",
        "contract",
        "settings",
        "lock",
        "sessions",
        "note",
        "trajectory",
        "transcript-gemini",
    ],
)
def test_endlessly_nested_json_is_not_an_answer(name: str, deep: str) -> None:
    play(TARGETS[name], deep.encode())


def test_words_of_any_length_are_searched_for_a_cause_in_time() -> None:
    begun = process_time()
    words = "Please use " * 200_000
    assert cause_of(words) is None
    assert cause_of(words + "rate limit reached") == "rate_limited"
    assert cause_of("rate limit reached" + words) == "rate_limited"
    assert retry_at(words + "try again in 5 minutes", 0.0) == 300.0
    assert retry_at("at" + " " * 500_000, 0.0) is None
    assert process_time() - begun < SECONDS


@pytest.mark.parametrize(
    "answer", [" " * 300_000, "<promise>DONE</promise> a " * 20_000, "<promise> " * 50_000]
)
def test_an_answer_of_any_length_is_searched_for_its_claim_in_time(answer: str) -> None:
    begun = process_time()
    claimed(answer, "Write <promise>DONE</promise> when it is done.", Promise(text="DONE"))
    assert process_time() - begun < SECONDS


@pytest.mark.parametrize("piece", ["sk-", "eyJ-", "-----BEGIN PRIVATE KEY-----"])
def test_beginnings_of_tokens_without_end_are_searched_in_time(piece: str) -> None:
    begun = process_time()
    clean = Secrets({}).redact(piece * 50_000 + " sk-ant-api03-abcdefghijklmnopqrstuvwxyz")
    assert "abcdefghijklmnopqrstuvwxyz" not in clean
    assert process_time() - begun < SECONDS


@pytest.mark.parametrize(
    "key", ["9." * 50_000 + "a", '"a" . ' * 50_000 + "a", "{" + "a." * 50_000 + "a = 1}"]
)
def test_a_key_of_thousands_of_parts_is_not_toml(key: str) -> None:
    with pytest.raises(ValueError, match="a key has more than 100 parts \\(at line 2"):
        safe_toml.loads(f"[table]\n{key} = 1\n")
    assert safe_toml.loads('task = "See a.b.c.d, 1.2.3 and e.g. f.g."\n[a.b]\nc."d e".f = 1\n')["a"]["b"]
