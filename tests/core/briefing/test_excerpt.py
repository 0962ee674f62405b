"""What an event keeps of long texts: journal lines stay small, however long the input."""

import re

import pytest
from msgspec import json

from tests.core.helpers import Run, Turn, gate
from untilgreen.core.briefing.brief import QUOTE_BUDGET, compose
from untilgreen.core.briefing.excerpt import FINDINGS_BYTES, fit, kept_reply, kept_verdict, trim
from untilgreen.core.loop.step import Work
from untilgreen.core.values.events import GateChecked, TurnEnded
from untilgreen.core.values.fingerprint import fingerprint, sketch
from untilgreen.core.values.model import Finding, Reply, Verdict

MOST = 64 * 1024
MEGABYTE = 1_000_000
NASTY = {
    "plain": "word " * (MEGABYTE // 5),
    "control characters": "\x00\x01\x1b" * (MEGABYTE // 3),
    "emoji": "🧪" * MEGABYTE,
    "quotes": '"\\' * (MEGABYTE // 2),
    "one line": "x" * MEGABYTE,
}


def test_a_text_within_its_budget_is_kept_as_it_is() -> None:
    assert trim("short", 5) == "short"
    assert fit("short", 7) == "short"


def test_a_long_text_keeps_head_and_tail_and_says_what_is_missing() -> None:
    assert trim("a" * 100 + "b" * 1000 + "c" * 200, 300) == (
        "a" * 100 + "\n[… 1,000 characters left out …]\n" + "c" * 200
    )


@pytest.mark.parametrize("text", NASTY.values(), ids=NASTY)
def test_a_text_takes_no_more_bytes_of_json_than_it_may(text: str) -> None:
    assert len(json.encode(fit(text, 1000))) <= 1000
    assert "characters left out" in fit(text, 1000)


@pytest.mark.parametrize("text", NASTY.values(), ids=NASTY)
def test_the_event_of_a_turn_stays_under_64_kb(text: str) -> None:
    reply = Reply(text=text, detail=text, error="crash", denied=("Bash(rm *)", "WebFetch"), session="s-1")

    line = json.encode(TurnEnded(at=1.0, lap=1, reply=kept_reply(reply)))

    assert len(line) < MOST
    assert json.decode(line, type=TurnEnded).reply == kept_reply(reply)


@pytest.mark.parametrize("text", NASTY.values(), ids=NASTY)
def test_the_event_of_a_gate_stays_under_64_kb(text: str) -> None:
    findings = tuple(
        Finding(id=f"{number} {said}", message=said, file="a.py", line=1)
        for number, said in enumerate([text, *[text[:20_000]] * 39])
    )
    verdict = Verdict(status="fail", findings=findings, excerpt=text, output="output/001-tests.txt")

    line = json.encode(GateChecked(at=1.0, lap=1, gate="tests", verdict=kept_verdict(verdict)))

    assert len(line) < MOST


def test_a_kept_reply_can_still_be_compared_as_a_whole() -> None:
    text = "one two three four five six\n" * 20_000 + "the end"

    kept = kept_reply(Reply(text=text))

    assert len(kept.text) < len(text)
    assert kept.size == len(text)
    assert kept.digest == fingerprint(text)
    assert kept.sketch == sketch(text)


def test_findings_that_do_not_fit_are_counted() -> None:
    findings = tuple(Finding(id=f"test_{number}", message="m" * 900) for number in range(100))

    kept = kept_verdict(Verdict(status="fail", findings=findings, more=7))

    assert 0 < len(kept.findings) < 100
    assert kept.findings == findings[: len(kept.findings)]
    assert kept.more == 107 - len(kept.findings)
    assert kept.count == 107
    assert sum(len(json.encode(finding)) for finding in kept.findings) <= FINDINGS_BYTES


def test_the_digest_stands_for_the_findings_that_were_left_out() -> None:
    def digest(*ids: str) -> str:
        return kept_verdict(
            Verdict(status="fail", findings=tuple(Finding(id=name, message="m" * 900) for name in ids))
        ).digest

    many = [f"test_{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(100)]

    assert digest(*many) == digest(*reversed(many))
    assert digest(*many) != digest(*many[:-1], "test_other")


def test_without_findings_the_digest_stands_for_the_output() -> None:
    one, other, third = (
        kept_verdict(Verdict(status="fail", excerpt=text))
        for text in ("tests failed in 3s", "tests failed in 5s", "Segmentation fault")
    )

    assert one.digest == other.digest != third.digest


def test_a_digest_that_the_gate_gave_itself_is_kept() -> None:
    assert kept_verdict(Verdict(status="fail", excerpt="text", digest="of the whole output")).digest == (
        "of the whole output"
    )


def test_a_finding_that_fits_is_kept_with_file_and_line() -> None:
    finding = Finding(id="E501", message="line too long", file="a.py", line=3)

    assert kept_verdict(Verdict(status="fail", findings=(finding,))).findings == (finding,)


def test_halves_of_characters_are_replaced_so_that_an_event_can_be_written() -> None:
    half = "name-\udce9"
    verdict = kept_verdict(
        Verdict(status="fail", findings=(Finding(id=half, message=half, file=half),), excerpt=half)
    )
    reply = kept_reply(Reply(text=half, detail=half, denied=(half,)))

    assert json.decode(json.encode(verdict), type=Verdict).findings[0].file == "name-?"
    assert json.decode(json.encode(reply), type=Reply).text == "name-?"


def test_a_long_file_name_does_not_hide_the_other_findings() -> None:
    findings = (Finding(id="a", file="f" * 40_000), Finding(id="b"))

    assert [each.id for each in kept_verdict(Verdict(status="fail", findings=findings)).findings] == [
        "a",
        "b",
    ]


def test_only_an_output_that_names_nothing_is_sketched() -> None:
    text = "seven words are more than is needed"

    assert kept_verdict(Verdict(status="fail", excerpt=text)).sketch
    assert kept_verdict(Verdict(status="pass", excerpt=text)).sketch == ()
    assert kept_verdict(Verdict(status="fail", excerpt=text, findings=(Finding(id="a"),))).sketch == ()


def test_what_is_said_to_be_left_out_is_what_was_left_out() -> None:
    text = "\x01" * 1_000_000

    found = re.fullmatch(r"(.*)\n\[… ([\d,]+) characters left out …\]\n(.*)", fit(text, 1000), re.DOTALL)

    assert found is not None
    assert int(found[2].replace(",", "")) == len(text) - len(found[1]) - len(found[3])


@pytest.mark.parametrize("budget", [0, -5])
def test_without_room_no_text_is_kept(budget: int) -> None:
    assert trim("x" * 1000, budget) == "\n[… 1,000 characters left out …]\n"


def test_very_many_red_gates_share_the_budget() -> None:
    names = [f"g{number}" for number in range(280)]
    run = Run(*(gate(name) for name in names))
    long = Verdict(status="fail", findings=(Finding(id="i" * 500),), excerpt="e" * 12_000)
    run.lap(Turn(), **dict.fromkeys(names, long))
    run.until(Work)

    assert len(compose(run.state).text) < QUOTE_BUDGET + 200 * len(names)


def test_a_turn_with_many_denials_stays_under_64_kb() -> None:
    denied = tuple(f"Bash({number} " + "z" * 980 + ")" for number in range(500))
    reply = Reply(text="x" * 23_900, detail="y" * 3_900, denied=denied, error="permission")

    assert len(json.encode(TurnEnded(at=1.0, lap=1, reply=kept_reply(reply)))) < MOST
