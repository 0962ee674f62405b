"""Defaults for what a spec leaves out, and the parts that a strategy brings along."""

from __future__ import annotations

from collections.abc import Sequence

from untilgreen.core.detectors.claims import Claims
from untilgreen.core.detectors.cycle import Cycle
from untilgreen.core.detectors.errors import Errors
from untilgreen.core.detectors.noop import Noop
from untilgreen.core.detectors.similar import Similar
from untilgreen.core.detectors.stall import Stall
from untilgreen.core.strategies.ralph import Ralph
from untilgreen.core.values.model import CLAIM_GATE, GateSpec, Promise
from untilgreen.core.values.rules import Detector
from untilgreen.errors import ConfigError

_DETECTORS: tuple[type[Detector], ...] = (Cycle, Similar, Stall, Errors, Claims, Noop)
DETECTORS = tuple(kind.__name__.lower() for kind in _DETECTORS)


def default_detectors() -> tuple[Detector, ...]:
    """One of each kind."""
    return tuple(kind() for kind in _DETECTORS)


def tuned_for(detectors: Sequence[Detector], strategy: object) -> tuple[Detector, ...]:
    """The detectors, with `similar` tuned to ralph's similarity and window."""
    if not isinstance(strategy, Ralph):
        return tuple(detectors)
    mine = Similar(similarity=strategy.similarity, window=strategy.window)
    return tuple(mine if isinstance(detector, Similar) else detector for detector in detectors)


def promise_of(strategy: object, text: str | None) -> Promise | None:
    """The spec's promise; without one, ralph has its own and other strategies have none."""
    if isinstance(strategy, Ralph):
        promise = Promise(text=text or strategy.promise, min=strategy.min, tokens=strategy.tokens)
    elif text is None:
        return None
    else:
        promise = Promise(text=text)
    if not promise.text.strip() or "\n" in promise.text:
        raise ConfigError(f"promise = {promise.text!r} must be one line of text, for example 'DONE'.")
    return promise


def with_claim(gates: Sequence[GateSpec], promise: Promise | None) -> tuple[GateSpec, ...]:
    """Add the promise as one more required gate, in a stage after all gates that judge the work."""
    if promise is None:
        if not any(gate.required for gate in gates):
            what = "No gate is required, and there is" if gates else "There is no gate and"
            raise ConfigError(
                f"{what} no promise, so the task could never count as done. "
                "Add a gate (--gate 'pytest -q') or a promise (--promise DONE)."
            )
        return tuple(gates)
    last = max((gate.stage for gate in gates), default=0)
    return (*gates, GateSpec(name=CLAIM_GATE, kind=CLAIM_GATE, stage=last + 1, timeout=None))
