"""Runs to report on: an ordinary one, and one in which all text from outside is hostile."""

from tests.core.helpers import PASS, Run, Turn, gate, priced, red
from untilgreen.core.detectors.cycle import Cycle
from untilgreen.core.strategies.hybrid import Hybrid
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import Change, Finding, PartSpec, Reply, Verdict
from untilgreen.surfaces.report.content import WHOLE, Report, gather

EVIL = (
    "</pre></title></style></svg></textarea><script>document.title='owned'</script>"
    "<img src=x onerror=\"document.title='owned'\"><svg onload=document.title='owned'>"
    "<a href=\"javascript:document.title='owned'\">click</a>'\"&amp;` | @everyone "
    "[x](javascript:1) ``` \x1b]0;owned\x07"
    "\x1b[2J\u202egnp.exe\x00\ufffe]]> <!-- --> ```\n```\n<iframe src=//example.org></iframe>"
)
DIFF = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a - b\n+a + b\n"


def green() -> Report:
    """Three laps to green, with costs; the second broke a gate that was green."""
    run = Run(
        gate("tests"),
        gate("style"),
        strategy=Hybrid(),
        limits=Limits(cost=1.0),
        agents=(PartSpec(name="claude"),),
        baseline=True,
    )
    run.lap(tests=red("a", "b", "c"))
    changes = (Change(path="a.py"),)
    run.lap(Turn(reply=priced(0.2, 1200), changes=changes, seconds=61), tests=red("a", score=0.5))
    run.lap(Turn(reply=priced(0.3, 900), changes=changes), tests=red("a", "d"), style=red("line too long"))
    run.lap(Turn(reply=priced(0.1, 800), changes=changes), tests=PASS, style=PASS)
    run.end()
    return gather(run.state, "0123456789abcdef", started=0.0, diffs={1: DIFF, 3: DIFF, WHOLE: DIFF})


def hostile() -> Report:
    """Task, agent, gates, findings, replies, file names and diffs that all try to escape their context."""
    evil_diff = f"diff --git a/{EVIL} b/x\n+{EVIL}\n-{EVIL}\n"
    return gather(hostile_run().state, "0" * 16, started=0.0, diffs={1: evil_diff, WHOLE: evil_diff})


def hostile_run() -> Run:
    """The run of the hostile report."""
    run = Run(
        gate(EVIL),
        strategy=Hybrid(),
        detectors=[Cycle()],
        task=EVIL,
        agents=(PartSpec(name=EVIL),),
        labels={EVIL: EVIL},
        remedies=("hint",),
    )
    verdict = Verdict(status="fail", findings=(Finding(id=EVIL, message=EVIL, file=EVIL),), excerpt=EVIL)
    while run.state.ending is None:
        run.lap(
            Turn(reply=Reply(text=EVIL), changes=(Change(path=EVIL),), tree="t"),
            **{EVIL: verdict},
        )
    run.end()
    return run
