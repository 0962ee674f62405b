"""Another agent as a reviewer: strict answers, and errors for everything unclear."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untilgreen.agents.command import CommandAgent
from untilgreen.errors import ConfigError
from untilgreen.gates.judge import JudgeGate, judged
from untilgreen.ports import CheckContext

REVIEWER = """
import json, pathlib, sys
brief = sys.stdin.read()
here = sorted(path.name for path in pathlib.Path(".").iterdir())
problem = [] if "+good" in brief and "make it good" in brief else ["the change is not good"]
problem += [f"it left me {here}"] if here else []
print("I looked at it.")
print(json.dumps({"verdict": "FAIL" if problem else "PASS", "reasons": problem}))
"""


def context(root: Path, diff: str) -> CheckContext:
    async def changed() -> str:
        return diff

    return CheckContext(root=root, task="make it good", diff=changed)


@pytest.fixture
def gate(tmp_path: Path) -> JudgeGate:
    script = tmp_path / "review.py"
    script.write_text(REVIEWER)
    return JudgeGate(agent=CommandAgent(f"{sys.executable} {script}"))


async def test_the_reviewer_sees_task_and_diff_and_nothing_to_change(gate: JudgeGate, tmp_path: Path) -> None:
    assert (await gate.check(context(tmp_path, "+good"))).status == "pass"

    verdict = await gate.check(context(tmp_path, "+bad"))
    assert verdict.status == "fail"
    assert [finding.message for finding in verdict.findings] == ["the change is not good"]


async def test_a_reviewer_that_fails_or_is_missing_is_an_error(tmp_path: Path) -> None:
    crashed = await JudgeGate(agent=CommandAgent("false")).check(context(tmp_path, ""))
    missing = await JudgeGate(agent=CommandAgent("./nowhere")).check(context(tmp_path, ""))

    assert (crashed.status, crashed.findings[0].id) == ("error", "crash")
    assert (missing.status, missing.findings[0].id) == ("error", "unavailable")


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ('{"verdict": "PASS", "reasons": []}', "pass"),
        ('Fine.\n```json\n{"verdict": "PASS"}\n```', "pass"),
        ('First I thought {"verdict": "PASS"}, but {"verdict": "FAIL", "reasons": ["x"]}', "fail"),
        ('{"verdict": "FAIL", "reasons": ["it {does} not work"]}', "fail"),
        ('{"verdict": "FAIL"}', "error"),
        ('{"verdict": "UNKNOWN", "reasons": ["no diff"]}', "error"),
        ('{"verdict": "pass"}', "error"),
        ('{"verdict": "PASS", "confidence": 1}', "error"),
        ("PASS", "error"),
        ("", "error"),
        ('{"verdict": "PASS"', "error"),
    ],
)
def test_only_a_strict_answer_counts(text: str, status: str) -> None:
    assert judged(text).status == status


@given(st.text(alphabet='{}[]":,PASFILverdictreasons \n\\', max_size=400))
def test_no_answer_breaks_the_judge(text: str) -> None:
    assert judged(text).status in ("pass", "fail", "error")


def test_hostile_nesting_is_bounded() -> None:
    assert judged('{"verdict":' * 100_000).status == "error"
    assert judged("{" * 1_000_000).status == "error"


def test_a_judge_without_an_agent_is_refused() -> None:
    with pytest.raises(ConfigError, match="needs an agent"):
        JudgeGate(agent="claude")
