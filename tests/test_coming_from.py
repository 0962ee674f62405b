"""Check every row of `docs/coming-from.md`: what it promises exists and works as described."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from untilgreen import Fixed, Hybrid, Limits, Ralph, progress
from untilgreen.config.load import Request, load
from untilgreen.config.spec.schema import described_keys
from untilgreen.core.briefing.claims import claimed
from untilgreen.core.values.model import Outcome, Plan, Promise
from untilgreen.engine.session_plan import LoopRequest
from untilgreen.engine.store.notes.session_notes import QUIET_SECONDS
from untilgreen.engine.wiring.plan import plan_of
from untilgreen.errors import ConfigError, UnknownPlugin
from untilgreen.plugins.kinds import BUILT_IN
from untilgreen.plugins.registry import registry
from untilgreen.surfaces.cli.main import reference
from untilgreen.surfaces.hook.continuing import RECOVERY_SECONDS
from untilgreen.surfaces.json.lines import SessionLine
from untilgreen.testing import story

PAGE = Path(__file__).parent.parent / "docs" / "coming-from.md"
DONE = "<promise>DONE</promise>"
USUAL = "agent = 'cmd:true'\ngates.t.run = 'true'\n"
PATIENT = """
from untilgreen import Continue
class Patient:
    def __init__(self, laps=3): self.laps = laps
    def decide(self, state, signals): return Continue(reason="more")
"""


def rows() -> list[str]:
    """The first cell of each row of each table: the term in the other tool."""
    cells = [line.strip("|").split("|") for line in PAGE.read_text().splitlines() if line.startswith("|")]
    said, others = [], False
    for row in ([cell.strip() for cell in each] for each in cells):
        if row[0] in ("you say", "tool"):
            others = row[0] == "tool"
        elif not set("".join(row)) <= {"-"}:
            said.append(row[1] if others else row[0])
    return said


def plan(folder: Path, spec: str = USUAL) -> Plan:
    """The plan made from a spec."""
    (folder / "untilgreen.toml").write_text(spec)
    (folder / "rules.py").write_text(PATIENT)
    request = Request(start=folder, task="x")
    return plan_of(load(request), folder)


@cache
def cli() -> str:
    return reference()


def has_flag(verb: str, *flags: str) -> None:
    part = cli().partition(f"## untilgreen {verb}\n")[2].partition("\n## ")[0]
    assert part, verb
    assert [flag for flag in flags if flag not in part] == []


def has_key(*keys: str) -> None:
    known = {key for key, _ in described_keys()}
    assert [key for key in keys if key not in known] == []


def options(kind: str, name: str, *names: str) -> None:
    made = registry.create(kind, name).object  # type: ignore[arg-type]
    assert [each for each in names if each not in made.__struct_fields__] == []


def outcomes(*names: str) -> None:
    assert [name for name in names if name not in set(Outcome)] == []


def heard(text: str, **promise: Any) -> bool:
    return claimed(text, "", Promise(text="DONE", **promise))


def refused(folder: Path, spec: str, error: type[Exception] = ConfigError) -> None:
    with pytest.raises(error):
        plan(folder, spec)


def _ralph(_: Path) -> None:
    assert story("a* a -*", Ralph(), promise="DONE").outcome == "converged"
    assert story("a* a* a* a*", Ralph(), promise="DONE").outcome != "converged"


def _max_iterations(at: Path) -> None:
    has_flag("run", "--max-iterations")
    assert plan(at).limits.iterations == 20
    refused(at, f"limits.iterations = 0\n{USUAL}")


def _promise(_: Path) -> None:
    has_flag("run", "--promise")
    assert heard(f"all good\n{DONE}")
    assert not heard("DONE")


def _tokens(at: Path) -> None:
    made = plan(at, f"strategy = {{ use = 'ralph', tokens = true }}\n{USUAL}")
    assert made.promise is not None
    assert made.promise.tokens
    assert heard("all is well\nDONE", tokens=True)
    assert not heard("ABANDONED", tokens=True)


def _min(_: Path) -> None:
    options("strategy", "ralph", "min")
    assert len(story("a a a a a a a", Ralph(min=5), limits=Limits(iterations=7)).laps) >= 5


def _laps_from_one(_: Path) -> None:
    assert [lap.number for lap in story("ab a -", Hybrid()).laps] == [1, 2, 3]


def _brief(_: Path) -> None:
    from untilgreen.core.briefing.brief import compose

    told = compose(story("a a", Fixed(iterations=5), limits=Limits(iterations=2))).text
    assert "What still fails" in told


def _session_functions(_: Path) -> None:
    session = import_module("untilgreen.session")
    assert {"start", "cancel", "state", "is_active"} <= set(session.__all__)
    for verb in ("start", "cancel", "state", "active"):
        has_flag(f"session {verb}", "--session")
    fields = ("active", "iteration", "completion_promise", "started_at", "prompt", "session_id")
    assert set(fields) <= set(SessionLine.__struct_fields__)


def _session_keys(_: Path) -> None:
    from untilgreen.core.briefing.session_template import PLACEHOLDERS

    has_key("session.max_iterations", "session.promise", "session.brief")
    assert {"ITERATION", "MAX", "PROMISE", "PROMPT"} <= set(PLACEHOLDERS)


def _state_dir(_: Path) -> None:
    has_flag("run", "--state-dir")
    has_flag("install", "--state-dir")


def _left(_: Path) -> None:
    assert QUIET_SECONDS == 2 * 3600
    has_flag("resume", "--take")
    assert "take" in LoopRequest.__struct_fields__


def _agents(at: Path) -> None:
    made = plan(at, "agents = ['claude', 'codex']\ngates.t.run = 'true'\n")
    assert made.agent_names() == ("claude", "codex")
    assert "switch" in made.remedies


def _breaker(_: Path) -> None:
    ended = story("a a a a a a", Hybrid(), remedies=("hint",))
    assert ended.outcome == "stuck"
    assert {signal.strength for lap in ended.laps for signal in lap.signals} == {"nudge", "stuck"}


def _pause(_: Path) -> None:
    from untilgreen.core.values.state import WAITS

    has_key("limits.waits", "limits.wait")
    assert "rate_limited" in WAITS


def _controller(_: Path) -> None:
    assert callable(import_module("untilgreen").run)
    assert callable(import_module("untilgreen.convergence").converge)


def _decide(_: Path) -> None:
    from untilgreen.plugins.kinds import CONTRACTS

    assert str(CONTRACTS["strategy"]) == "def decide(self, state, signals)"


def _other_methods(_: Path) -> None:
    public = import_module("untilgreen")
    assert {"RunState", "RunFinished"} <= set(public.__all__)
    assert Hybrid(base=3).base == 3


def _api_objects(_: Path) -> None:
    from untilgreen.engine.api import Options

    assert {"agent", "workspace", "gates", "brief", "on_event"} <= set(Options.__annotations__)


def _actions(_: Path) -> None:
    outcomes("converged", "exhausted", "stuck")
    assert story("a b", Fixed(iterations=2)).outcome == "exhausted"


def _decision(_: Path) -> None:
    for name in ("Continue", "Finish"):
        made = getattr(import_module("untilgreen"), name)
        assert {"reason", "confidence", "metadata"} <= set(made.__struct_fields__)
    assert "Ask" in import_module("untilgreen").__all__


def _gain(_: Path) -> None:
    options("strategy", "hybrid", "min_gain")


def _similarity(_: Path) -> None:
    options("strategy", "ralph", "similarity")
    options("detector", "similar", "similarity")
    assert Ralph().similarity == 0.95


def _unlimited(at: Path) -> None:
    has_flag("run", "--max-iterations")
    refused(at, f"limits = {{ iterations = 'unlimited', time = 'unlimited' }}\n{USUAL}")
    made = plan(at, f"limits.iterations = 'unlimited'\n{USUAL}")
    assert made.limits.iterations is None


def _time(at: Path) -> None:
    has_flag("run", "--max-time")
    assert plan(at, f"limits.time = '90m'\n{USUAL}").limits.time == 5400


def _snapshot(_: Path) -> None:
    assert all(lap.snapshot for lap in story("a b -", Hybrid()).laps)


def _accept(_: Path) -> None:
    options("strategy", "hybrid", "accept_after", "accept_floor")
    assert story("a a a a", Hybrid(accept_after=2), limits=Limits(iterations=3)).outcome != "accepted"


def _criteria(at: Path) -> None:
    assert {"levels", "ci"} <= set(BUILT_IN["gate"])
    made = plan(at, f"promise = 'DONE'\n{USUAL}")
    assert "claim" in [gate.kind for gate in made.gates]
    assert "noop" in BUILT_IN["detector"]


def _levels(_: Path) -> None:
    from inspect import signature

    from untilgreen.gates.levels.gate import LevelsGate

    assert {"min_level", "L0", "L1", "L2", "L3"} <= set(signature(LevelsGate).parameters)


def _on_fail(_: Path) -> None:
    from typing import get_args

    from untilgreen.core.values.model import OnFail
    from untilgreen.notify.messages import USUAL

    assert set(get_args(OnFail)) == {"iterate", "stop", "ask"}
    assert "escalated" in USUAL


def _ends(_: Path) -> None:
    from untilgreen.core.exit_codes import MEANINGS

    outcomes("converged", "stuck", "exhausted", "cancelled", "crashed")
    assert len(MEANINGS) >= 5


def _words(_: Path) -> None:
    assert story("a a a", Fixed(iterations=5)).outcome == "stuck"
    assert story("a -", Fixed(iterations=5)).outcome == "converged"


def _progress(_: Path) -> None:
    seen = progress(story("abc ab a -", Hybrid()))
    assert {"score", "trend", "velocity", "laps_left"} <= set(type(seen.overall).__struct_fields__)
    assert list(seen.gates) == ["tests"]


def _registry(_: Path) -> None:
    assert all(callable(getattr(registry, name)) for name in ("list", "has", "create", "register"))
    assert registry.has("strategy", "hybrid")
    with pytest.raises(UnknownPlugin):
        registry.create("strategy", "hybird")
    with pytest.raises(ConfigError):
        registry.register("strategy", "hybrid", Fixed)


def _custom(at: Path) -> None:
    made = plan(at, f"strategy = {{ use = './rules.py:Patient', laps = 2 }}\n{USUAL}")
    assert (made.strategy.name, made.strategy.options) == ("./rules.py:Patient", {"laps": 2})


def _labels(at: Path) -> None:
    made = plan(at, f"labels = {{ work_order = 'A-1' }}\n{USUAL}")
    assert made.labels == {"work_order": "A-1"}


def _profiles(at: Path) -> None:
    has_key("profiles", "profiles.NAME.extends")
    refused(at, "[profiles.a]\nextends = 'b'\n[profiles.b]\nextends = 'a'\n")


def _signature(_: Path) -> None:
    from untilgreen.core.values.fingerprint import fingerprint

    assert "## untilgreen fingerprint" in cli()
    assert fingerprint("failed at 10:00:01") == fingerprint("failed at 11:30:59")


def _cycle(_: Path) -> None:
    options("detector", "cycle", "repeats")
    assert story("a b a b a b", Fixed(iterations=9)).outcome == "stuck"


def _ask(_: Path) -> None:
    from untilgreen.core.loop.remedies import ASK, CANCEL, DIFFERENT, RUNGS
    from untilgreen.core.values.decision import REVIEW
    from untilgreen.surfaces.hook.slash_commands import VERBS

    assert ASK in RUNGS
    assert all((DIFFERENT, REVIEW, CANCEL))
    assert "answer" in VERBS
    assert "## untilgreen answer" in cli()


def _linked(_: Path) -> None:
    assert (PAGE.parent / "strategies.md").exists()
    assert (PAGE.parent / "detection.md").exists()


def _verbs(*names: str) -> Callable[[Path], None]:
    def look(_: Path) -> None:
        assert [name for name in names if f"## untilgreen {name}\n" not in cli()] == []

    return look


def _keys(*names: str) -> Callable[[Path], None]:
    return lambda _: has_key(*names)


def _flags(*names: str) -> Callable[[Path], None]:
    return lambda _: has_flag("run", *names)


def _options(strategy: str, *names: str) -> Callable[[Path], None]:
    return lambda _: options("strategy", strategy, *names)


def _aider(at: Path) -> None:
    made = plan(at, "agent = 'cmd:aider --yes --message-file {prompt_file}'\ngates.t.run = 'true'\n")
    assert "{prompt_file}" in made.agents[0].options["command"]


EXAMPLES: dict[str, Callable[[Path], None]] = {
    '`/ralph "task"`, ralph loop': _ralph,
    "`--max-iterations N`": _max_iterations,
    "`--completion-promise TEXT`, completion signal": _promise,
    "`DONE`, `TASK_COMPLETE`, `[COMPLETE]` as bare words": _tokens,
    "`--min-iterations`": _min,
    "iteration": _laps_from_one,
    "continuation prompt": _brief,
    "state file (`ralph-loop.local.md`, `.ralph/`)": _verbs("verify", "resume"),
    "`/cancel-ralph`": _verbs("cancel", "stop", "session cancel"),
    "`startLoop`, `cancelLoop`, `getState`, `isLoopActive`": _session_functions,
    "`defaultMaxIterations`, `defaultCompletionPromise`, `template`": _session_keys,
    "`stateDir`": _state_dir,
    "`continuationDelay`": _session_keys,
    "recovery window, `isRecovering`": lambda _: _equal(RECOVERY_SECONDS, 3.0),
    "orphaned session, `checkSessionExists`": _left,
    "toasts (`showToast`)": _keys("notify"),
    "`detectCompletionPromise` in the transcript": _promise,
    "struggle hints, `--add-context`": _verbs("steer"),
    "rotation of agents": _agents,
    "circuit breaker: closed, half-open, open": _breaker,
    "`fix_plan.md`, PRD, task list": _keys("task", "task_file", "gates.NAME.run"),
    "calls per hour": _pause,
    "work order, TaskSpec": _keys("task", "agent", "gates", "limits"),
    "convergence controller, run executor, orchestrator": _controller,
    "loop strategy: `shouldContinue`, `onIterationComplete`": _decide,
    "`initialize`, `onIterationStart`, `getState`, `reset`, `onLoopEnd`, `onRunComplete`": _other_methods,
    "`onBuild`, `onSnapshot`, `onGateCheck`, `onFeedback`": _api_objects,
    "`action`: complete, continue, timeout, fail": _actions,
    "`LoopDecision { continue, reason }`": _decision,
    "`baseIterations`, `bonusIterations`": _options("hybrid", "base", "bonus"),
    "`progressThreshold`": _gain,
    "`convergenceThreshold` 0.05": _similarity,
    "`similarityThreshold` 0.95": _similarity,
    "`windowSize`, `minIterations`, `maxIterations`": _options("ralph", "window", "min", "max"),
    "no limit on iterations": _unlimited,
    "`maxTimeMs`, `maxWallClock`, `maxTime`": _time,
    "`snapshotHash`, content hash": _snapshot,
    "`generateFeedback`": _brief,
    "`acceptPartialAfter`": _accept,
    "completion criteria: `VERIFICATION_PASS`, `CI_PASS`, `NO_CHANGES`, `AGENT_SIGNAL`": _criteria,
    "verification levels L0–L3, `minVerificationLevel`": _levels,
    "gate `onFailure`: iterate, stop, escalate": _on_fail,
    "converged, diverged, stopped, error": _ends,
    'convergence, in the sense of "nothing changes any more"': _words,
    "progress: score, trend, velocity, `byGate`, `estimatedRemaining`": _progress,
    "strategy registry: `register`, `create`, `getAvailableModes`": _registry,
    "custom strategy: `modulePath`, `strategyName`, `config`": _custom,
    "`workOrderId`": _labels,
    "harness profile": _profiles,
    "signature of an output": _signature,
    "same signature three times, `threshold`": _cycle,
    "sliding window, similarity ≥ 90 %": _similarity,
    "escalation menu: different approach, review, cancel": _ask,
    "`max_iterations`, `max_runtime`, `consecutive_errors`": _keys(
        "limits.iterations", "limits.time", "limits.errors"
    ),
    '"stopped too early", "not noticed"': _linked,
    "scratchpad": _verbs("steer"),
    "hat, preset, backpressure": _keys("agent", "profiles", "gates"),
    "`max_runtime`, `max_cost`, completion promise": _keys("limits.time", "limits.cost", "promise"),
    "`acceptance.verify_cmds`": _keys("gates.NAME.run", "gates.NAME.when"),
    "metareview": lambda _: _in("judge", BUILT_IN["gate"]),
    "`--max-runs`, `--max-duration`, `--max-cost`": _flags("--max-iterations", "--max-time", "--max-cost"),
    "CI retry on a pull request": lambda _: _in("ci", BUILT_IN["gate"]),
    "plan file, tasks": _keys("task_file", "gates"),
    "goal, judged by a model that reads the conversation": lambda _: _in("judge", BUILT_IN["gate"]),
    "`--auto-test`, `--test-cmd`": _aider,
    "job, exit codes, plan": _verbs("plan", "help exit-codes"),
}


def _equal(one: object, other: object) -> None:
    assert one == other


def _in(name: str, names: Any) -> None:
    assert name in names


def test_every_line_of_the_page_has_an_example_and_every_example_a_line() -> None:
    assert sorted(rows()) == sorted(EXAMPLES)


@pytest.mark.parametrize("said", EXAMPLES)
def test_what_a_line_says_is_here_is_here(said: str, tmp_path: Path) -> None:
    EXAMPLES[said](tmp_path)


def test_every_command_and_name_on_the_page_exists() -> None:
    text = PAGE.read_text()

    for verb in set(re.findall(r"`untilgreen ([a-z]+)", text)):
        assert f"## untilgreen {verb}\n" in cli(), verb
    for name in set(re.findall(r"`untilgreen\.([a-z_.]+)`", text)):
        module, _, attribute = f"untilgreen.{name}".rpartition(".")
        assert hasattr(import_module(module), attribute), name
