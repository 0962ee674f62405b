"""The ladder: what follows from a lap, in the same order for every strategy."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from untilgreen.core import remedies
from untilgreen.core.decision import Ask, Continue, Decision, Finish
from untilgreen.core.events import AgentSwitched, Decided, Event, Halted, LapVoided, Paused
from untilgreen.core.excerpt import trim
from untilgreen.core.limits import breached, breached_apart_from_laps, waited_too_long
from untilgreen.core.measure import close, judged
from untilgreen.core.model import Outcome, Verdict
from untilgreen.core.rules import Detector, Settles, Signal, Strategy, stuck
from untilgreen.core.standing import standings, told, unrunnable
from untilgreen.core.state import Iteration, Open, RunState
from untilgreen.core.units import several
from untilgreen.errors import PluginFailed

ABOUT_GATE = "gate"
CONTINUE, ACCEPT, STOP = "continue", "accept", "stop"
BACKOFF = {"rate_limited": (60.0, 900.0), "quota": (900.0, 3600.0), "network": (10.0, 600.0)}
"""First and longest wait in seconds where the agent does not say how long."""


class Policy(Struct, frozen=True, kw_only=True):
    """The code that judges: one strategy, and the detectors it listens to."""

    strategy: Strategy
    detectors: tuple[Detector, ...] = ()


def decide(state: RunState, policy: Policy, at: float) -> Event:
    """One event that says what follows; asking twice gives the same one."""
    lap = state.open
    if lap is None:
        return _after_an_answer(state, policy, at)
    if lap.reply is not None and lap.reply.error in ("auth", *BACKOFF):
        return _not_a_lap(state, policy, lap, at)
    at = max(at, state.now)
    seen = close(replace(state, now=at, elapsed=state.elapsed + at - state.now), lap)
    if lap.number == 0:
        return Decided(at=at, lap=0, decision=_baseline(seen))
    if lap.interrupted and not seen.iterations[-1].green:
        if breach := breached_apart_from_laps(seen):
            return Decided(at=at, lap=lap.number, decision=_exhausted(seen, policy, breach.reason, ()))
        return LapVoided(at=at, lap=lap.number, reason="the turn was interrupted and used no lap")
    signals = _signals(seen, policy)
    decision, escalated = _ladder(seen, policy, signals)
    return Decided(at=at, lap=lap.number, decision=decision, signals=signals, escalated=escalated)


def _signals(state: RunState, policy: Policy) -> tuple[Signal, ...]:
    seen = []
    for detector in policy.detectors:
        try:
            signal = detector.detect(state)
        except Exception as error:
            raise _failed("Detector", detector, error) from error
        if signal is not None:
            seen.append(signal)
    return tuple(seen)


def _ladder(state: RunState, policy: Policy, signals: tuple[Signal, ...]) -> tuple[Decision, tuple[str, ...]]:
    last = state.iterations[-1]
    # Success before limits: a run that turns green on its last permitted lap has succeeded.
    if last.green:
        return _green(state, last), ()
    if stopper := _failed_with(state, last, "stop"):
        return Finish(outcome=Outcome.BLOCKED, reason=f"gate {stopper[0]!r} must not fail, and failed"), ()
    if state.stop is not None:
        return Finish(outcome=Outcome.CANCELLED, reason=state.stop.reason), ()
    if breach := breached(state):
        return _exhausted(state, policy, breach.reason, signals), ()
    escalated = _failed_with(state, last, "ask")
    if escalated and state.answers:
        return _gate_question(last, escalated), escalated
    return _ask_the_strategy(state, policy, signals), escalated


def _green(state: RunState, last: Iteration) -> Finish:
    flaky = [name for name, verdict in last.verdicts.items() if verdict.flaky]
    warning = f"; flaky: {', '.join(flaky)}" if flaky else ""
    if judged(state.plan):
        return Finish(
            outcome=Outcome.CONVERGED, reason=f"all required gates pass in lap {last.number}{warning}"
        )
    return Finish(
        outcome=Outcome.CLAIMED,
        reason="the agent says that it is done, and there was no gate that could object",
        confidence=0.95,
    )


def _ask_the_strategy(state: RunState, policy: Policy, signals: tuple[Signal, ...]) -> Decision:
    try:
        decision = policy.strategy.decide(state, signals)
    except Exception as error:
        raise _failed("Strategy", policy.strategy, error) from error
    if not isinstance(decision, Continue | Finish | Ask):
        name = type(policy.strategy).__name__
        raise PluginFailed(f"Strategy {name} answered {decision!r}. Let it return Continue, Finish or Ask.")
    if isinstance(decision, Ask):
        return decision
    if isinstance(decision, Finish):
        if decision.outcome in (Outcome.CONVERGED, Outcome.CLAIMED):
            name = type(policy.strategy).__name__
            raise PluginFailed(
                f"Strategy {name} ends the run as {decision.outcome} while gates are red. "
                "Let it answer Finish(outcome=Outcome.ACCEPTED) if that is good enough."
            )
        if decision.outcome is Outcome.STUCK:
            tried = remedies.instead_of_ending(state, decision, signals)
            return tried if not isinstance(tried, Finish) else _settled(state, policy, tried)
        return _settled(state, policy, decision)
    advice = [signal.advice for signal in signals if signal.strength == "nudge" and signal.advice]
    hints = [*([decision.hint] if decision.hint else []), *advice]
    return replace(decision, hint="\n".join(hints) or None)


def _failed(kind: str, plugin: object, error: Exception) -> PluginFailed:
    return PluginFailed(f"{kind} {type(plugin).__name__} raised {type(error).__name__}: {error}")


def _exhausted(state: RunState, policy: Policy, reason: str, signals: tuple[Signal, ...]) -> Finish:
    signal = stuck(signals)
    if signal is not None:
        ending = Finish(
            outcome=Outcome.STUCK,
            reason=f"{signal.kind} in laps {', '.join(map(str, signal.laps))}: {signal.evidence}; {reason}",
            confidence=signal.confidence,
            metadata={"signal": signal.kind, "limit": reason.partition(":")[0]},
        )
    else:
        limit = reason.partition(":")[0]
        ending = Finish(outcome=Outcome.EXHAUSTED, reason=f"limit {reason}", metadata={"limit": limit})
    return _settled(state, policy, ending)


def _settled(state: RunState, policy: Policy, finish: Finish) -> Finish:
    """Asked before `exhausted` or `stuck` becomes final: is what there is good enough?"""
    if finish.outcome not in (Outcome.EXHAUSTED, Outcome.STUCK):
        return finish
    last = state.iterations[-1] if state.iterations else None
    if last is not None and last.awaiting_claim and _all_heard(state, last):
        return Finish(
            outcome=Outcome.ACCEPTED,
            reason=f"all gates are green, only the promise was never given; {finish.reason}",
            leave=last.number,
            metadata={**finish.metadata, "instead_of": str(finish.outcome)},
        )
    if isinstance(policy.strategy, Settles):
        return policy.strategy.settle(state, finish)
    return finish


def _all_heard(state: RunState, last: Iteration) -> bool:
    """Whether gates judge the work, and all are green, those that wait for the claim included."""
    heard = [last.verdicts.get(gate.name) for gate in judged(state.plan)]
    return bool(heard) and all(verdict is not None and verdict.status == "pass" for verdict in heard)


def _failed_with(state: RunState, last: Iteration, on_fail: str) -> tuple[str, ...]:
    """The red gates that ask for this; one that was red too often asks for a person."""
    red = []
    for gate in state.plan.gates:
        verdict = last.verdicts.get(gate.name)
        if verdict is None or verdict.status not in ("fail", "error"):
            continue
        worn_out = gate.max_attempts is not None and state.red_laps.get(gate.name, 0) >= gate.max_attempts
        if gate.on_fail == on_fail or (on_fail == "ask" and worn_out and gate.on_fail == "iterate"):
            red.append(gate.name)
    return tuple(red)


def _gate_question(last: Iteration, gates: tuple[str, ...]) -> Ask:
    said = [f"{name} {_ended(last.verdicts[name])}" for name in gates]
    return Ask(
        question=f"{'; '.join(said)} in lap {last.number}, {several(last.count, 'complaint')} in all. Go on?",
        choices=(CONTINUE, ACCEPT, STOP),
        default=CONTINUE,
        reason=f"the spec asks a person when {', '.join(gates)} fails",
        metadata={"about": ABOUT_GATE, "gates": list(gates)},
    )


def _ended(verdict: Verdict) -> str:
    """What happened, with the first complaint where a gate could not tell."""
    if verdict.status == "fail":
        return "failed"
    why = verdict.findings[0].message if verdict.findings else ""
    return f"could not tell ({trim(why, 300)})" if why else "could not tell"


def _after_an_answer(state: RunState, policy: Policy, at: float) -> Event:
    """The lap is over and a question about it was answered: the core's own, or the strategy's."""
    asked, answer = state.asked, state.answer
    if asked is None or answer is None or not state.iterations:
        raise PluginFailed("There is nothing to decide: no lap is under way and no question was answered.")
    last = state.iterations[-1]
    about = asked.metadata.get("about")
    if about == remedies.ABOUT_STUCK:
        outcome = Outcome.CANCELLED if answer.choice == remedies.CANCEL else Outcome.STUCK
        ending = Finish(outcome=outcome, reason=asked.reason, confidence=asked.confidence)
        decision = remedies.resolve(state, answer.choice, ending, last.signals)
        if isinstance(decision, Finish):
            decision = _settled(state, policy, decision)
    elif about == ABOUT_GATE and answer.choice == ACCEPT:
        decision = Finish(outcome=Outcome.ACCEPTED, reason="accepted by hand", leave=last.number)
    elif about == ABOUT_GATE and answer.choice == STOP:
        decision = Finish(outcome=Outcome.CANCELLED, reason=f"stopped after lap {last.number}")
    elif about == ABOUT_GATE:
        decision = _ask_the_strategy(replace(state, asked=None, answer=None), policy, last.signals)
    else:
        decision = _ask_the_strategy(state, policy, last.signals)
    return Decided(at=at, lap=last.number, decision=decision)


def _baseline(state: RunState) -> Decision:
    """Before any money is spent: is there anything to do, and can the gates tell?"""
    base = state.baseline
    assert base is not None  # closing lap 0 makes it
    known = {"gates": standings(state.plan, base.verdicts)}
    if base.green:
        more = told(state.plan, base.verdicts, plain=False)
        return Finish(
            outcome=Outcome.CONVERGED,
            reason=f"nothing to do: all gates are green before the first lap{more and f'; {more}'}. "
            "If there is a task that they don't see, ask for a claim with --promise",
            metadata=known,
        )
    for gate in state.plan.gates:
        verdict = base.verdicts.get(gate.name)
        if verdict is not None and gate.required and unrunnable(verdict):
            why = verdict.findings[0].message if verdict.findings else verdict.excerpt
            reason = f"gate {gate.name!r} is broken and could not run: {why}"
            return Finish(outcome=Outcome.BLOCKED, reason=reason, metadata=known)
    if stopper := _failed_with(state, base, "stop"):
        return Finish(
            outcome=Outcome.BLOCKED,
            reason=f"gate {stopper[0]!r} must not fail, and fails before the first lap",
            metadata=known,
        )
    complaints = f"{several(base.count, 'complaint')} before the first lap"
    reason = f"{complaints}: {told(state.plan, base.verdicts)}"
    return Continue(reason=reason, metadata={"score": base.score, **known})


def _not_a_lap(state: RunState, policy: Policy, lap: Open, at: float) -> Event:
    """The agent could not work for a reason that passes, or that only a person can mend."""
    reply = lap.reply
    assert reply is not None and reply.error is not None  # noqa: PT018 - decide looked
    if spent := breached_apart_from_laps(state):
        return Decided(at=at, lap=lap.number - 1, decision=_exhausted(state, policy, spent.reason, ()))
    if reply.error == "auth":
        return Halted(at=at, cause="auth", detail=reply.detail)
    first, longest = BACKOFF[reply.error]
    until = reply.retry_at or at + min(first * 2**state.waits, longest)
    breach = waited_too_long(state, max(0.0, until - at))
    if reply.error == "quota" and (breach or reply.retry_at is None):
        following = state.plan.agent_names()[_place(state) + 1 :]
        if following:
            return AgentSwitched(at=at, agent=following[0], reason=f"{state.agent} is out of quota")
        return Halted(at=at, cause="quota", detail=reply.detail)
    if breach:
        return Decided(at=at, lap=lap.number - 1, decision=_exhausted(state, policy, breach.reason, ()))
    return Paused(at=at, until=until, cause=reply.error, reason=f"{reply.error}: {reply.detail}".rstrip(": "))


def _place(state: RunState) -> int:
    names = state.plan.agent_names()
    return names.index(state.agent) if state.agent in names else 0
