"""show: the verb that looks at one run."""

from __future__ import annotations

from untilgreen.engine.told import told
from untilgreen.surfaces import result
from untilgreen.surfaces.cli.look import summarise
from untilgreen.surfaces.cli.options import HERE, Json, Place, Run
from untilgreen.surfaces.cli.say import out, out_json, room, version_line
from untilgreen.surfaces.render import agent_words
from untilgreen.surfaces.text import inert, short


def show(run: Run = "@last", /, *, place: Place = HERE, json: Json = False) -> int:
    """Show one run: outcome, laps and gates.

    Parameters
    ----------
    run
        Its id, the beginning of it, or @last.
    """
    folder = place.find(run)
    state, head = told(folder)
    if json:
        version_line()
        out_json(result.as_json(state, head))
        return 0
    out(f"{state.run}  {short(state.plan.title, room(len(state.run) + 2, 100))}")
    strategy = inert(state.plan.strategy.name)
    out(f"agent {agent_words(state.agent)} · strategy {strategy} · {inert(str(folder.path))}")
    out()
    summarise(state, place.flags, seen=True)
    out(f"journal head {head}")
    return 0
