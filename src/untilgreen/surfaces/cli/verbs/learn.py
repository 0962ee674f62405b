"""learn: what adaptive has learned from your own runs, and whether that is in use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from untilgreen.core.exit_codes import OK
from untilgreen.errors import UserError, nearest
from untilgreen.surfaces.cli.caller import refuse_agents
from untilgreen.surfaces.cli.confirm import can_ask, yes
from untilgreen.surfaces.cli.options import HERE, Json, LocalPlace
from untilgreen.surfaces.text.printing import out, out_json, tell, version_line

if TYPE_CHECKING:
    from untilgreen.engine.store.notes.lesson_book import LessonBook

_WORTH = "50"


def learn(
    *,
    worth: Annotated[
        str,
        Parameter(
            metavar="LAPS",
            help="What a green run is worth: a number of laps, or money such as $20. Default: 50.",
        ),
    ] = _WORTH,
    agents: Annotated[
        bool, Parameter(name="--agents", help="Compare agents: how often each is green, and what that costs.")
    ] = False,
    forget: Annotated[
        bool, Parameter(name="--forget", help="Forget what the runs so far taught; their journals stay.")
    ] = False,
    agent: Annotated[
        str | None, Parameter(metavar="NAME", help="Only this agent, as the list names it.")
    ] = None,
    yes_: Annotated[bool, Parameter(name=["--yes", "-y"], help="Don't ask.")] = False,
    place: LocalPlace = HERE,
    json: Json = False,
) -> int:
    """Show what adaptive has learned from your own runs, and whether that is in use.

    Reads the journals of all finished runs. Starts no agent.
    """
    from untilgreen.engine.store.notes.lesson_book import LessonBook
    from untilgreen.surfaces.learning import gathering, text

    book = LessonBook(place.store())
    if forget:
        return _forget(book, agent, place, asked=yes_)
    taught = gathering.chosen(book.by_agent(), agent)
    if agent is not None and not taught:
        raise UserError(f"Nothing has been learned about {agent!r}. {nearest(agent, book.by_agent())}")
    if json:
        version_line()
    if agents:
        rates = gathering.rates(taught)
        for rate in rates if json else ():
            out_json(rate)
        for line in () if json else text.rates(rates):
            out(line)
        return OK
    found = gathering.lessons(taught, gathering.written_worth(worth))
    for each in found if json else ():
        out_json(each)
    for line in () if json else text.lessons(found, str(book.path)):
        out(line)
    return OK


def _forget(book: LessonBook, agent: str | None, place: LocalPlace, *, asked: bool) -> int:
    refuse_agents("learn --forget", place.store().state_dir)
    what = f"the runs with {agent}" if agent else "all runs so far"
    if not asked:
        if not can_ask():
            raise UserError(f"Nothing was forgotten. To forget what {what} taught, add --yes.")
        if not yes(f"Forget what {what} taught?"):
            tell("Nothing was forgotten.")
            return OK
    gone = book.forget(agent)
    out(f"Forgot what {gone:,} run{'' if gone == 1 else 's'} taught. Their journals stay.")
    return OK
