"""The evidence of a signal is short, and names the laps that show the pattern."""

from tests.core.helpers import Run, Turn, red
from untilgreen.core.detectors.claims import Claims
from untilgreen.core.detectors.errors import Errors
from untilgreen.core.detectors.stall import Stall
from untilgreen.core.values.model import Promise, Reply


def test_the_evidence_of_a_failure_is_short() -> None:
    denied = tuple(f"Bash({number})" for number in range(30))
    run = Run(detectors=[Errors()])
    run.lap(Turn(reply=Reply(error="permission", detail="y" * 4000, denied=denied)), tests=red("a"))

    evidence = run.decided.signals[0].evidence

    assert len(evidence) < 1000
    assert evidence.endswith("Bash(4) and 25 more")


def test_the_laps_named_are_those_of_the_rejected_claims() -> None:
    run = Run(promise=Promise(text="DONE"))
    for ids in ("abc", "ab", "ab", "ac", "bc"):
        run.lap(Turn(claim=True), tests=red(*ids))

    signal = Claims().detect(run.state)

    assert signal is not None
    assert (signal.laps, signal.evidence[:1]) == ((3, 4, 5), "3")


def test_a_stall_names_the_lap_since_which_nothing_got_better() -> None:
    run = Run()
    for ids in ("abc", "ab", "ac", "bc"):
        run.lap(tests=red(*ids))

    signal = Stall(laps=2).detect(run.state)

    assert signal is not None
    assert signal.evidence == "no improvement for 2 laps, since lap 2"
    assert signal.laps == (3, 4)
