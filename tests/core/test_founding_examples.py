"""Examples from the founding documents, played to the core: loops, and runs that only look like one."""

from __future__ import annotations

import pytest

from tests.core.helpers import Run, Turn, priced
from untilgreen.core.defaults import default_detectors
from untilgreen.core.detectors.cycle import Cycle
from untilgreen.core.detectors.similar import Similar
from untilgreen.core.values.fingerprint import fingerprint, jaccard, output_fingerprint
from untilgreen.core.values.model import Finding, GateSpec, Reply, Verdict
from untilgreen.core.values.signature import signature

SILENT = Verdict(status="fail", findings=(Finding(id="exit code 1", message="printed nothing"),))
LOOP = "Fixed auth.ts - added null check"


def printed(text: str) -> Verdict:
    """A failing verdict with this output, which is from no known tool."""
    return Verdict(status="fail", excerpt=text)


def without_gates() -> Run:
    """A run that only the agent's own claim ends, as in a plain `/ralph`."""
    return Run(GateSpec(name="claim", kind="claim"), promise=None, detectors=default_detectors())


def strengths(run: Run) -> set[tuple[str, str]]:
    return {(signal.kind, signal.strength) for lap in run.state.laps for signal in lap.signals}


LONG = "\n".join(f"checking the {word} module of the service for what it promises" for word in "abcdefghijkl")


@pytest.mark.parametrize(
    "output",
    [
        "{left} errors left",
        "{left} tests failing - auth, login",
        "Failures: {left}",
        "{done}/9 done",
        "{done} % of it works",
        LONG + "\n{left} problems remaining",
    ],
)
def test_falling_counts_are_progress(output: str) -> None:
    run = Run(detectors=default_detectors())
    for lap in range(1, 9):
        reply = Reply(text=f"Worked on part number {'abcdefgh'[lap - 1]} of it")
        run.lap(Turn(reply=reply), tests=printed(output.format(left=9 - lap, done=lap)))

    assert not [each for each in strengths(run) if each[1] == "stuck"]


def test_a_count_that_no_longer_falls_is_stuck() -> None:
    run = Run(detectors=default_detectors())
    for left in (7, 6, 5, 5, 5):
        run.lap(Turn(reply=Reply(text="Tried again")), tests=printed(f"{left} errors left"))

    assert ("cycle", "stuck") in strengths(run)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("3 tests failing - auth, login", "2 tests failing - auth, login", False),
        ("7 errors left", "6 errors left", False),
        ("2/7 passed", "3/7 passed", False),
        ("71 % covered", "72 % covered", False),
        ("error at line 45", "error at line 46", True),
        ("auth.ts:45:3: error: no", "auth.ts:46:9: error: no", True),
        ("failed in 0.31s at 12:00:01", "failed in 0.29s at 12:03:44", True),
        ("object 0x7f3a failed", "object 0x7f99 failed", True),
    ],
)
def test_counts_of_failures_are_compared_and_line_numbers_times_and_addresses_are_not(
    one: str, other: str, same: bool
) -> None:
    assert (fingerprint(one) == fingerprint(other)) is same


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("expected 5 rows, got 3 rows", "expected 5 rows, got 4 rows", False),
        ("[(5,)]", "[(7,)]", False),
        ("took 31 ms, seen at line 45", "took 29 ms, seen at line 46", True),
        ("worker utf8 #12 said no", "worker utf8 #13 said no", True),
        ("at 12:00:01 in /tmp/a1b2/x.py:45", "at 12:03:44 in /tmp/c3d4/x.py:46", True),
    ],
)
def test_outputs_without_findings_have_to_agree_in_numbers_that_are_not_times_places_or_ids(
    one: str, other: str, same: bool
) -> None:
    assert (output_fingerprint(one) == output_fingerprint(other)) is same


def test_long_outputs_that_differ_in_their_results_are_not_alike() -> None:
    pieces = ("ba", "de", "fi", "go", "ku", "la")
    text = " ".join(one + other + third for one in pieces for other in pieces for third in pieces)
    run = Run(detectors=[Cycle()])
    for lap in range(1, 7):
        run.lap(Turn(reply=Reply(text="Tuned it")), tests=printed(f"{text} speedup {lap * 1.5}"))

    assert ("cycle", "stuck") not in strengths(run)


def test_what_an_agents_own_tools_always_print_is_not_evidence() -> None:
    run = Run(detectors=[Cycle()])
    for _ in range(5):
        run.lap(
            Turn(reply=Reply(text="Edit it.")), tests=printed("The file /a/b/solution.py has been updated.")
        )

    assert strengths(run) == set()


def test_silence_is_not_evidence() -> None:
    run = Run(detectors=default_detectors())
    for lap in range(1, 9):
        run.lap(Turn(reply=Reply(text=f"Step {lap} is done.")), tests=SILENT)

    assert not [each for each in strengths(run) if each[1] == "stuck"]


def test_where_gates_are_silent_files_and_replies_are_the_evidence() -> None:
    run = Run(detectors=default_detectors())
    for _ in range(3):
        run.lap(Turn(reply=Reply(text="I tried."), tree="same"), tests=SILENT)

    assert {("similar", "stuck"), ("cycle", "stuck")} <= strengths(run)


def test_the_loop_of_the_document_is_seen_without_gates() -> None:
    run = without_gates()
    for _ in range(3):
        run.lap(Turn(reply=Reply(text=LOOP)))

    signal = next(signal for signal in run.last.signals if signal.kind == "similar")

    assert (signal.strength, signal.laps, signal.evidence) == ("stuck", (1, 2, 3), "the same reply 3 times")
    assert signal.signature == "auth.ts:null-check"
    assert signal.digest == fingerprint(LOOP)


def test_where_a_gate_judges_the_same_reply_is_a_nudge() -> None:
    run = Run(detectors=[Similar()])
    for number in range(3):
        run.lap(Turn(reply=Reply(text=LOOP)), tests=printed(f"something else, {'abc'[number]}"))

    assert strengths(run) == {("similar", "nudge")}


@pytest.mark.parametrize(
    "replies",
    [
        (LOOP, "Fixed auth.ts - updated validation", "Fixed auth.ts - refactored handler"),
        ("Implemented step 1.", "Implemented step 2.", "Implemented step 3."),
    ],
)
def test_other_actions_are_not_a_loop(replies: tuple[str, ...]) -> None:
    run = without_gates()
    for reply in replies:
        run.lap(Turn(reply=Reply(text=reply)))

    assert not [each for each in strengths(run) if each[1] == "stuck"]


NODE = """\
/app/src/auth.ts:45
  return user.profile.id;

TypeError: Cannot read properties of null (reading 'id')
    at login (/app/src/auth.ts:45:13)
    at Object.<anonymous> (/app/src/main.ts:3:1)
    at Module._compile (node:internal/modules/cjs/loader:1105:14)
"""


@pytest.mark.parametrize(
    ("output", "name"),
    [
        (
            "Running tests... 2 failed: auth.test.ts - login test timeout, logout test assertion",
            "auth.test.ts:login-timeout,logout-assertion",
        ),
        ("Modified auth.ts line 45-52, added null check for user.profile", "auth.ts:null-check"),
        (LOOP, "auth.ts:null-check"),
        ("Searched GitHub for 'oauth2 refresh token', found 3 patterns...", "search:oauth2-refresh-token"),
        (
            "Error: TypeError - Cannot read property 'id' of null at auth.ts:45",
            "error:TypeError-null-auth.ts",
        ),
        (NODE, "error:TypeError-null-auth.ts"),
        ("3 tests failing - auth, login, logout", "test-fail:3-auth,login"),
        ("2 tests failing - auth, login", "test-fail:2-auth,login"),
        ("1 test failing - auth", "test-fail:1-auth"),
        ("", ""),
    ],
)
def test_the_signatures_of_the_document(output: str, name: str) -> None:
    assert signature(output) == name


def test_what_nobody_counted_is_unknown_and_never_0() -> None:
    run = Run()
    assert (run.state.spent.tokens, run.state.spent.cost) == (0, 0.0)

    run.lap(Turn(reply=Reply(text="no idea")), tests=printed("no"))
    assert (run.last.tokens, run.last.cost, run.last.reply.exit_code) == (None, None, None)
    assert (run.state.spent.tokens, run.state.spent.cost) == (None, None)

    run.lap(Turn(reply=priced(0.5, 100, exit_code=3)), tests=printed("no"))
    assert (run.last.tokens, run.last.cost, run.last.reply.exit_code) == (100, 0.5, 3)

    run.lap(Turn(reply=Reply(text="no idea")), tests=printed("no"))
    assert (run.last.tokens, run.last.cost) == (None, None)
    assert (run.state.spent.tokens, run.state.spent.cost) == (100, 0.5)


FORTY_WORDS = (
    "The login test failed because the session expired before the token was checked. "
    "I moved the check before the session, ran the login test, and the login test failed again. "
    "Next I moved the cookie and ran the whole test"
)


def test_jaccard_compares_the_sets_of_words_without_articles() -> None:
    different = [f"word{'abcdefghijklmnopqrstuvwxyz'[number % 26]}{number // 26}" for number in range(40)]

    assert len(FORTY_WORDS.split()) == 40
    assert jaccard(FORTY_WORDS, FORTY_WORDS.replace("cookie", "header")) == pytest.approx(0.91, abs=0.001)
    assert jaccard(" ".join(different), " ".join([*different[:-1], "another"])) == pytest.approx(39 / 41)
    assert jaccard("added null check", "added a null check") == 1.0
    assert jaccard("added null check", "added type check") == pytest.approx(2 / 4)
    assert jaccard("Same WORDS", "words same") == 1.0
    assert jaccard("", "words") == jaccard("the", "the") == 0.0


def test_jaccard_is_the_document_s_own_but_for_articles() -> None:
    def as_written(one: str, other: str) -> float:
        mine, yours = set(one.lower().split()), set(other.lower().split())
        return len(mine & yours) / len(mine | yours)

    plain = ("moved check before session", "Moved check after session")
    assert jaccard(*plain) == as_written(*plain) == pytest.approx(3 / 5)
    article = ("added null check", "added a null check")
    assert jaccard(*article) == 1.0
    assert as_written(*article) == pytest.approx(3 / 4)


def test_the_measure_decides_what_is_similar() -> None:
    replies = ("added null check", "added a null check", "added null check")
    run = Run()
    for reply in replies:
        run.lap(Turn(reply=Reply(text=reply), tree="same"), tests=printed("no"))

    assert Similar().detect(run.state) is None
    seen = Similar(measure="jaccard").detect(run.state)
    assert seen is not None
    assert (seen.strength, seen.evidence) == ("stuck", "replies 100% alike, the same files and findings")
