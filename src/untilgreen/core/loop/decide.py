"""Judges a finished lap: in the same order for every strategy."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from untilgreen.core.loop import remedies
from untilgreen.core.loop.red_gates import (
    ABOUT_GATE,
    failed_with,
    gate_question,
    no_clean_room,
    red_before,
    unproved,
)
from untilgreen.core.scoring.gate_health import health_by_gate, health_in_words, unrunnable
from untilgreen.core.scoring.measure import close_lap, judged
from untilgreen.core.scoring.same_outcome import getting_fewer, signature_of
from untilgreen.core.values.decision import ACCEPT, ADDED, CONTINUE, STOP, Ask, Continue, Decision, Finish
from untilgreen.core.values.events import AgentSwitched, Decided, Event, Halted, LapVoided, Paused
from untilgreen.core.values.limits import Breach, breached, breached_apart_from_laps, waited_too_long
from untilgreen.core.values.model import Outcome
from untilgreen.core.values.rules import Detector, Settles, Signal, Strategy, give_up, most_laps
from untilgreen.core.values.state import Lap, Open, RunState
from untilgreen.core.values.units import all_used
from untilgreen.errors import PluginFailed

BEFORE_A_LOOP = ("iterations", "time")
"""Limits that are reported before a stuck signal; the others come after it."""
BACKOFF = {"rate_limited": (60.0, 900.0), "quota": (900.0, 3600.0), "network": (10.0, 600.0)}
"""First and longest wait in seconds, if the agent does not say how long."""


class Policy(Struct, frozen=True, kw_only=True):
    """The code that judges: one strategy, and the detectors whose signals it gets."""

    strategy: Strategy
    detectors: tuple[Detector, ...] = ()


def decide(state: RunState, policy: Policy, at: float) -> Event:
    """The event that says what follows; the same arguments always give the same event.

    The lap is measured here to decide, and again in the fold, because only the journal determines the state.
    """
    lap = state.open
    if lap is None:
        return _after_an_answer(state, policy, at)
    if lap.reply is not None and lap.reply.error in ("auth", *BACKOFF):
        return _not_a_lap(state, policy, lap, at)
    at = max(at, state.now)
    seen = close_lap(replace(state, now=at, elapsed=state.elapsed + at - state.now), lap)
    if lap.number == 0:
        return Decided(at=at, lap=0, decision=_baseline(seen))
    if lap.interrupted and not seen.laps[-1].green:
        if breach := breached_apart_from_laps(seen):
            return Decided(at=at, lap=lap.number, decision=_exhausted(seen, policy, breach, ()))
        return LapVoided(at=at, lap=lap.number, reason="the turn was interrupted and used no lap")
    signals = signals_after(seen, policy.detectors)
    decision, escalated = _ladder(seen, policy, signals)
    return Decided(at=at, lap=lap.number, decision=decision, signals=signals, escalated=escalated)


def signals_after(state: RunState, detectors: Iterable[Detector]) -> tuple[Signal, ...]:
    """What the detectors see after the last lap; a run whose number of failures is falling is never stuck."""
    seen = []
    for detector in detectors:
        try:
            signal = detector.detect(state)
        except Exception as error:
            raise _failed("Detector", detector, error, state) from error
        if signal is not None:
            seen.append(_signed(state, _softened(state, signal)))
    return tuple(seen)


def _signed(state: RunState, signal: Signal) -> Signal:
    """The signal with the signature of its last lap, if the detector gave none."""
    laps = state.numbered(signal.laps)
    if signal.signature or not laps:
        return signal
    words, digest = signature_of(laps[-1])
    return replace(signal, signature=words, digest=digest)


def _softened(state: RunState, signal: Signal) -> Signal:
    if signal.strength != "stuck" or not getting_fewer(state.numbered(signal.laps)):
        return signal
    return replace(
        signal, strength="nudge", evidence=f"{signal.evidence}; but the number of failures is falling"
    )


def _ladder(state: RunState, policy: Policy, signals: tuple[Signal, ...]) -> tuple[Decision, tuple[str, ...]]:
    last = state.laps[-1]
    # Success before limits: a run that turns green on its last permitted lap has succeeded.
    if last.green:
        return _green(state, last), ()
    if stopper := failed_with(state, last, "stop"):
        return Finish(
            outcome=Outcome.BLOCKED, reason=f'gate {stopper[0]!r} failed, and its on_fail is "stop"'
        ), ()
    if state.stop is not None:
        return Finish(outcome=Outcome.CANCELLED, reason=state.stop.reason), ()
    escalated = failed_with(state, last, "ask")
    if unproven := unproved(state, last):
        return replace(gate_question(state, last, unproven), until=None), escalated
    if _unclaimed(state):
        return Finish(
            outcome=Outcome.ACCEPTED,
            reason=f"all gates are green, and laps {last.number - 1} and {last.number} changed no file and "
            "did not give the promise",
            confidence=0.95,
            leave=last.number,
        ), ()
    if breach := breached(state):
        return _exhausted(state, policy, breach, signals), ()
    if escalated and state.answers:
        return replace(gate_question(state, last, escalated), until=remedies.patience(state.plan)), escalated
    return _ask_the_strategy(state, policy, signals), escalated


def _green(state: RunState, last: Lap) -> Finish | Ask:
    if turned := red_before(state, last):
        gates = ", ".join(turned)
        laps = ", ".join(str(lap) for lap in sorted({lap for each in turned.values() for lap in each}))
        return Ask(
            question=f"{gates} passed in lap {last.number} on the same files that failed in lap {laps}: "
            "flaky, or something outside the files changed. Accept the result?",
            choices=(CONTINUE, ACCEPT, STOP),
            default=CONTINUE,
            reason="the same files were red before, so green alone proves nothing",
            until=None,
            metadata={"about": ABOUT_GATE, "gates": list(turned)},
        )
    flaky = [name for name, verdict in last.verdicts.items() if verdict.flaky]
    warning = f"; flaky: {', '.join(flaky)}" if flaky else ""
    if judged(state.plan):
        return Finish(
            outcome=Outcome.CONVERGED, reason=f"all required gates pass in lap {last.number}{warning}"
        )
    return Finish(
        outcome=Outcome.CLAIMED,
        reason="the agent says that it is done, and no gate checks that",
        confidence=0.95,
    )


def _ask_the_strategy(state: RunState, policy: Policy, signals: tuple[Signal, ...]) -> Decision:
    try:
        decision = policy.strategy.decide(state, signals)
    except Exception as error:
        raise _failed("Strategy", policy.strategy, error, state) from error
    if not isinstance(decision, Continue | Finish | Ask):
        name = type(policy.strategy).__name__
        raise PluginFailed(f"Strategy {name} returned {decision!r}. It must return Continue, Finish or Ask.")
    if isinstance(decision, Ask):
        return decision
    if isinstance(decision, Finish):
        if decision.outcome in (Outcome.CONVERGED, Outcome.CLAIMED):
            name = type(policy.strategy).__name__
            raise PluginFailed(
                f"Strategy {name} ended the run as {decision.outcome} while gates are red. "
                "Return Finish(outcome=Outcome.ACCEPTED) if that is good enough."
            )
        if decision.outcome is Outcome.STUCK:
            most = most_laps(policy.strategy)
            used_up = most is not None and len(state.laps) >= most and not state.added
            if most is not None and used_up:  # a remedy would need one more lap
                reason = f"{all_used(most, 'lap')}; {decision.reason}"
                return _settled(state, policy, replace(decision, reason=reason))
            tried = remedies.instead_of_ending(state, decision, signals)
            return tried if not isinstance(tried, Finish) else _settled(state, policy, tried)
        if decision.outcome is Outcome.EXHAUSTED and state.added:
            return Continue(reason=f"{decision.reason}; but laps were added", metadata={ADDED: True})
        return _settled(state, policy, decision)
    advice = [signal.advice for signal in signals if signal.advice]
    hints = [*([decision.hint] if decision.hint else []), *advice]
    return replace(decision, hint="\n".join(hints) or None)


def _failed(kind: str, plugin: object, error: Exception, state: RunState) -> PluginFailed:
    """An error with the plugin's file and line, and the lap that could not be judged."""
    lap = f" after lap {state.laps[-1].number}" if state.laps else ""
    where = f" ({place})" if (place := _raised_at(error)) else ""
    return PluginFailed(
        f"{kind} {type(plugin).__name__} raised {type(error).__name__}{where}{lap}: {error}. "
        "That lap was not judged; its files stay. Fix the plugin, then start again with `untilgreen run`."
    )


def _raised_at(error: Exception) -> str:
    """The last line of the plugin's own file that was running."""
    below = error.__traceback__.tb_next if error.__traceback__ else None
    file, line = (below.tb_frame.f_code.co_filename, below.tb_lineno) if below else ("", 0)
    while below is not None:
        if below.tb_frame.f_code.co_filename == file:
            line = below.tb_lineno
        below = below.tb_next
    return f"{file}, line {line}" if file else ""


def _exhausted(state: RunState, policy: Policy, breach: Breach, signals: tuple[Signal, ...]) -> Finish:
    """A limit ends the run; reasons are named in the order laps, time, loop, errors, cost, tokens."""
    known: dict[str, str] = {"limit": breach.limit}
    ending = give_up(signals)
    if ending is None:
        ending = Finish(outcome=Outcome.EXHAUSTED, reason=f"limit {breach.reason}", metadata=known)
    else:
        said = [f"limit {breach.reason}", ending.reason]
        reason = "; ".join(said if breach.limit in BEFORE_A_LOOP else reversed(said))
        ending = replace(ending, reason=reason, metadata={**ending.metadata, **known})
    return _settled(state, policy, ending)


def _unclaimed(state: RunState) -> bool:
    """Green twice in a row, without a changed file and without a claim: there is nothing left to wait for."""
    promise, laps = state.plan.promise, state.laps[-2:]
    return (
        len(laps) == 2
        and promise is not None
        and laps[-1].number >= promise.min
        and all(
            lap.awaiting_claim and not lap.claim and not lap.moved and _every_judging_gate_passed(state, lap)
            for lap in laps
        )
    )


def _settled(state: RunState, policy: Policy, finish: Finish) -> Finish:
    """Check whether the result is good enough before `exhausted` or `stuck` becomes final."""
    if finish.outcome not in (Outcome.EXHAUSTED, Outcome.STUCK):
        return finish
    last = state.laps[-1] if state.laps else None
    if last is not None and last.awaiting_claim and _every_judging_gate_passed(state, last):
        return Finish(
            outcome=Outcome.ACCEPTED,
            reason=f"all gates are green, but the agent never gave the promise; {finish.reason}",
            leave=last.number,
            metadata={**finish.metadata, "instead_of": str(finish.outcome)},
        )
    if isinstance(policy.strategy, Settles):
        return policy.strategy.settle(state, finish)
    return finish


def _every_judging_gate_passed(state: RunState, last: Lap) -> bool:
    """Whether gates judge the work and all of them passed, including those that wait for the claim."""
    heard = [last.verdicts.get(gate.name) for gate in judged(state.plan)]
    return bool(heard) and all(verdict is not None and verdict.status == "pass" for verdict in heard)


def _after_an_answer(state: RunState, policy: Policy, at: float) -> Event:
    """The lap is over and a question about it was answered: the core's own, or the strategy's."""
    asked, answer = state.asked, state.answer
    if asked is None or answer is None or state.last is None:
        raise PluginFailed("There is nothing to decide: no lap is in progress and no question was answered.")
    last = state.last
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
        decision = Finish(outcome=Outcome.CANCELLED, reason=f"stopped {_when(last)}")
    elif about == ABOUT_GATE and last.number == 0:
        decision = Continue(reason="a person wants to continue")
    elif about == ABOUT_GATE:
        decision = _ask_the_strategy(replace(state, asked=None, answer=None), policy, last.signals)
    else:
        decision = _ask_the_strategy(state, policy, last.signals)
    return Decided(at=at, lap=last.number, decision=decision)


def _when(lap: Lap) -> str:
    return f"after lap {lap.number}" if lap.number else "before the first lap"


def _baseline(state: RunState) -> Decision:
    """Before any money is spent: is there anything to do, and can the gates tell?"""
    base = state.baseline
    assert base is not None  # closing lap 0 makes it
    known = {"gates": health_by_gate(state.plan, base.verdicts)}
    if base.green:
        more = health_in_words(state.plan, base.verdicts, plain=False)
        return Finish(
            outcome=Outcome.CONVERGED,
            reason=f"nothing to do: all gates are green before the first lap{more and f'; {more}'}. "
            "If they don't cover the task, ask for a claim with --promise",
            metadata=known,
        )
    if question := no_clean_room(state, base):
        return replace(question, metadata={**question.metadata, **known})
    for gate in state.plan.gates:
        verdict = base.verdicts.get(gate.name)
        if verdict is not None and gate.required and unrunnable(verdict):
            why = verdict.findings[0].message if verdict.findings else verdict.excerpt
            reason = f"gate {gate.name!r} is broken: {why}"
            return Finish(outcome=Outcome.BLOCKED, reason=reason, metadata=known)
    if stopper := failed_with(state, base, "stop"):
        return Finish(
            outcome=Outcome.BLOCKED,
            reason=f'gate {stopper[0]!r} fails before the first lap, and its on_fail is "stop"',
            metadata=known,
        )
    reason = f"before the first lap, {health_in_words(state.plan, base.verdicts)}"
    return Continue(reason=reason, metadata={"score": base.score, **known})


def _not_a_lap(state: RunState, policy: Policy, lap: Open, at: float) -> Event:
    """The agent could not work, for a reason that passes or that only a person can fix."""
    reply = lap.reply
    assert reply is not None and reply.error is not None  # noqa: PT018 - decide checked
    if spent := breached_apart_from_laps(state):
        return Decided(at=at, lap=lap.number - 1, decision=_exhausted(state, policy, spent, ()))
    if reply.error == "auth":
        return Halted(at=at, cause="auth", detail=reply.detail)
    first, longest = BACKOFF[reply.error]
    until = reply.retry_at or at + min(first * 2**state.waits, longest)
    breach = waited_too_long(state, max(0.0, until - at))
    if reply.error == "quota" and (breach or reply.retry_at is None):
        if following := remedies.agents_after(state):
            return AgentSwitched(at=at, agent=following[0], reason=f"{state.agent} is out of quota")
        return Halted(at=at, cause="quota", detail=reply.detail)
    if breach:
        return Decided(at=at, lap=lap.number - 1, decision=_exhausted(state, policy, breach, ()))
    return Paused(at=at, until=until, cause=reply.error, reason=f"{reply.error}: {reply.detail}".rstrip(": "))
