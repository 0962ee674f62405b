"""Notes for a person before a run starts, about what can still be changed; none of them stops the run."""

from __future__ import annotations

from collections.abc import Iterator

from untilgreen.config.load import Loaded
from untilgreen.config.max_iterations import CEILINGS, LIMIT
from untilgreen.core.values.rules import most_laps
from untilgreen.core.values.units import several
from untilgreen.engine.wiring.objects import Objects


def start_notes(loaded: Loaded, objects: Objects) -> list[str]:
    """One sentence for each thing that people would otherwise find out too late."""
    return [
        *_laps(loaded, objects),
        *_cost(loaded, objects),
        *_tokens(loaded, objects),
        *_notifiers(loaded, objects),
    ]


def _laps(loaded: Loaded, objects: Objects) -> Iterator[str]:
    """If limit and strategy differ, the smaller number of laps applies, even if one of them is a default."""
    spec = loaded.spec
    most, limit = most_laps(objects.part("strategy", spec.strategy).object), spec.limits.iterations
    option = CEILINGS.get(spec.strategy.name, "")
    both = LIMIT in loaded.layers.sources and ("strategy", option) in loaded.layers.sources
    if most is not None and limit is not None and most != limit and both:
        yield (
            f"strategy.{option} allows {several(most, 'lap')} and limits.iterations {limit}; "
            f"the smaller applies: at most {several(min(most, int(limit)), 'lap')}."
        )
    elif most is not None and limit is not None and most < int(limit) and LIMIT in loaded.layers.sources:
        yield (
            f"limits.iterations is {limit}, but the strategy {spec.strategy.name} ends after "
            f"{several(most, 'lap')}. For more, set {f'strategy.{option}' if option else 'its options'}."
        )


def _cost(loaded: Loaded, objects: Objects) -> Iterator[str]:
    """A limit in dollars ends a run after the first turn whose price nobody knows."""
    limits = loaded.spec.limits
    if limits.cost is None or limits.unknown_cost != "refuse":
        return
    silent = [name for name, about in _abouts(loaded, objects) if not getattr(about, "tells_cost", False)]
    if silent:
        yield (
            f"{' and '.join(silent)} may not say what a turn costs, and limits.cost ends the run after such "
            "a turn. To continue instead, set limits.unknown_cost = 'ignore', or 'estimate' with "
            "limits.token_price."
        )


def _tokens(loaded: Loaded, objects: Objects) -> Iterator[str]:
    """A limit on tokens comes late for an agent that reports too few of them."""
    if loaded.spec.limits.tokens is None:
        return
    for name, about in _abouts(loaded, objects):
        if not getattr(about, "tells_all_tokens", True):
            yield (
                f"{name} reports only the tokens of a turn's last request, so limits.tokens ends the run "
                f"later than it says. Use {name.removeprefix('acp:')!r}, which reports all of them."
            )


def _abouts(loaded: Loaded, objects: Objects) -> Iterator[tuple[str, object]]:
    """Each agent, and what is known about it."""
    for part in loaded.spec.agents:
        yield part.name, getattr(objects.part("agent", part).object, "about", None)


def _notifiers(loaded: Loaded, objects: Objects) -> Iterator[str]:
    """A notifier whose program is not installed would be silent all night."""
    for part in loaded.spec.notify:
        missing = getattr(objects.part("notifier", part).object, "missing", None)
        if callable(missing) and (said := missing()):
            yield f"notify = {part.name!r} can't reach you: {said}."
