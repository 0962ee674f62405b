"""Verdicts of one stage: time limits, retries, and gates whose verdicts differ on the same files."""

from pathlib import Path
from typing import Any

import anyio
import pytest
from msgspec.structs import replace

from untilgreen import Fixed, Reply, Verdict
from untilgreen.core.briefing.brief import Brief
from untilgreen.core.values.model import Finding, GateSpec, Status, ToolCount
from untilgreen.engine.loop.stages import marked_if_flaky
from untilgreen.gates.command import CommandGate
from untilgreen.ports import CheckContext, Gate, TurnContext
from untilgreen.testing.world import World

pytestmark = pytest.mark.anyio

RED = Verdict(status="fail", findings=(Finding(id="late"),))
GREEN = Verdict(status="pass", score=1.0)


class Scripted:
    """A gate that returns one status after another, and then repeats the last."""

    def __init__(self, *statuses: Status) -> None:
        self.statuses = list(statuses)
        self.calls = 0

    async def check(self, workspace: CheckContext) -> Verdict:
        self.calls += 1
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        return Verdict(status=status, findings=() if status == "pass" else (Finding(id="late"),))


class LosesTests:
    """A gate whose tests fail once, and are then gone."""

    def __init__(self) -> None:
        self.calls = 0

    async def check(self, workspace: CheckContext) -> Verdict:
        self.calls += 1
        if self.calls > 1:
            return GREEN
        count = ToolCount(tool="pytest", passed=8, failed=1, total=9)
        return Verdict(status="fail", findings=(Finding(id="t"),), tools=(count,))


class Idle:
    """An agent that changes nothing."""

    async def work(self, brief: Brief, context: TurnContext) -> Reply:
        return Reply(text=f"looked around in lap {brief.lap}")


async def verdicts(gate: Gate, laps: int = 1, **spec: Any) -> list[Verdict]:
    """The gate's verdicts on the baseline and on each lap, while no file changes."""
    world = await World(
        strategy=Fixed(iterations=laps),
        gates=[GateSpec(name="tests", **spec)],
        checks={"tests": gate},
        agents={"one": Idle()},
        detectors=(),
    ).start()
    state = await world.runner().drive()
    assert state.baseline is not None
    return [lap.verdicts["tests"] for lap in (state.baseline, *state.laps)]


@pytest.mark.parametrize(
    ("verdict", "earlier", "flaky"),
    [
        (GREEN, [], False),
        (GREEN, [GREEN], False),
        (RED, [RED], False),
        (GREEN, [RED], True),
        (RED, [GREEN], True),
        (GREEN, [Verdict(status="error")], True),
        (GREEN, [Verdict(status="skip")], False),
        (RED, [Verdict(status="error")], False),
    ],
)
def test_red_and_green_on_the_same_files_are_a_flake(
    verdict: Verdict, earlier: list[Verdict], flaky: bool
) -> None:
    assert marked_if_flaky(verdict, earlier).flaky is flaky


def test_a_green_flake_names_what_was_red() -> None:
    assert marked_if_flaky(GREEN, [RED]).findings == RED.findings
    assert marked_if_flaky(GREEN, [RED]).count == 0


@pytest.mark.parametrize(("retries", "calls"), [(0, 1), (1, 2), (3, 4)])
async def test_a_red_gate_gets_as_many_further_tries_as_the_spec_says(retries: int, calls: int) -> None:
    gate = Scripted("fail")

    said = await verdicts(gate, retries=retries)

    assert gate.calls == 2 * calls
    assert [(each.status, each.flaky) for each in said] == [("fail", False), ("fail", False)]


async def test_the_first_green_try_is_the_last() -> None:
    gate = Scripted("fail", "pass")

    baseline = (await verdicts(gate, retries=5))[0]

    assert (gate.calls, baseline.status, baseline.flaky) == (2, "pass", True)


async def test_a_flip_in_a_lap_that_changed_nothing_is_flaky() -> None:
    said = await verdicts(Scripted("fail", "fail", "error", "pass"), 3)

    assert [(each.status, each.flaky) for each in said] == [
        ("fail", False),
        ("fail", False),
        ("error", False),
        ("pass", True),
    ]


@pytest.mark.parametrize("kind", ["ci", "judge", "approval", "integrity"])
async def test_people_and_other_machines_may_change_their_mind(kind: str) -> None:
    said = await verdicts(Scripted("fail", "error", "pass"), 2, kind=kind)

    assert not any(verdict.flaky for verdict in said)


async def test_a_command_that_runs_out_of_time_has_said_something(tmp_path: Path) -> None:
    class Here:
        keeps_time = True

        async def check(self, workspace: CheckContext) -> Verdict:
            gate = CommandGate("echo 'app.py:3: error: waits for ever'; sleep 60")
            return await gate.check(replace(workspace, root=tmp_path))

    verdict = (await verdicts(Here(), timeout=1.0))[0]

    assert verdict.status == "error"
    assert [finding.id for finding in verdict.findings] == ["timeout", "app.py: error: waits for ever"]
    assert verdict.findings[0].message == "timed out after 1s"
    assert "waits for ever" in verdict.excerpt


async def test_a_gate_that_keeps_no_time_is_ended_from_outside() -> None:
    class Hangs:
        async def check(self, workspace: CheckContext) -> Verdict:
            await anyio.sleep_forever()
            raise AssertionError

    verdict = (await verdicts(Hangs(), timeout=0.05))[0]

    assert [finding.id for finding in verdict.findings] == ["timeout"]


async def test_a_pass_without_the_tests_that_were_there_is_not_believed() -> None:
    _, after = await verdicts(LosesTests())

    assert after.status == "fail"
    assert [finding.id for finding in after.findings] == ["fewer tests: pytest"]


async def test_a_pass_that_is_not_believed_on_the_same_files_is_red_and_not_flaky() -> None:
    """The first verdict on these files was red too, so the gate did not flip."""
    _, first, second = await verdicts(LosesTests(), laps=2)

    assert [(each.status, each.flaky) for each in (first, second)] == [("fail", False), ("fail", False)]
