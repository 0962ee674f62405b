"""The lines of the live view: each fits the terminal, in ASCII where that is asked for."""

from __future__ import annotations

from collections.abc import Callable

from rich.text import Text

from untilgreen.core.scoring.progress import Overview, Progress
from untilgreen.core.values.limits import ceiling
from untilgreen.core.values.model import GateSpec, Verdict
from untilgreen.core.values.state import Lap, RunState
from untilgreen.core.values.units import several, show_duration, show_score
from untilgreen.surfaces.text.event_lines import ASCII_MARKS, DEMO, MARKS, UNPAID, agent_words
from untilgreen.surfaces.text.safe_text import columns_of, folded, in_ascii, inert, padded, short
from untilgreen.surfaces.text.sparkline import spark

BAR = 12
WHAT = "what happened"
MOST_LAPS = 40
FEW_LAPS = 12
"""How many laps of a failing gate are shown beside the scores."""
SHORTEST_TITLE = 16
RED_ROWS = 3
LONGEST_GATE = 12
"""How much of a gate's name is shown above its column."""
_ARROWS = {"improving": "↗", "regressing": "↘", "stagnant": "→", "unknown": " "}
_ASCII_ARROWS = {"improving": "/", "regressing": "\\", "stagnant": "-", "unknown": " "}
_COLORS = {"pass": "green", "fail": "red", "error": "yellow", "skip": "dim"}
_NOT_RUN = Verdict(status="skip")


class Panel:
    """Draws for a terminal of a certain width."""

    def __init__(self, *, width: int, ascii_only: bool) -> None:
        self._width = width
        self._ascii = ascii_only
        self._marks = ASCII_MARKS if ascii_only else MARKS

    def title(self, state: RunState) -> Text:
        """Run and task on the left; agent and strategy on the right, if there is room for them."""
        who = f"{agent_words(state.agent)} · {inert(state.plan.strategy.name)}"
        room = self._width - columns_of(state.run) - columns_of(who) - 4
        task = short(state.plan.title, max(SHORTEST_TITLE, room))
        title = Text(state.run, style="bold")
        title.append(f"  {task}", style="not bold")
        gap = max(2, self._width - columns_of(title.plain) - columns_of(who))
        title.append(" " * gap + who, style="dim not bold")
        return title

    def numbers(self, state: RunState, known: Overview, now: float) -> Text:
        """How far the run is, and how much of each limit is used."""
        limits, score = state.plan.limits, known.overall.score
        full, empty = ("#", ".") if self._ascii else ("█", "░")
        filled = round(score * BAR)
        arrow = (_ASCII_ARROWS if self._ascii else _ARROWS)[known.overall.trend]
        text = Text(f"{lap_words(state):<13} ")
        text.append(full * filled + empty * (BAR - filled), style="cyan")
        text.append(f" score {show_score(score)} {arrow}")
        running = 0.0 if state.pause or state.asked else max(0.0, now - state.now)
        text.append(f"  time {seconds(state.elapsed + running)}{_of(limits.time, show_duration)}")
        if DEMO in state.plan.labels:
            text.append(f"  ${state.spent.cost:.2f}, not paid" if state.spent.cost else f"  {UNPAID}")
        elif state.spent.cost or limits.cost:
            spent = "unknown" if state.spent.cost is None else f"${state.spent.cost:.2f}"
            text.append(f"  cost {spent}{_of(limits.cost, '${:.2f}'.format)}")
        if state.spent.tokens:
            text.append(f"  tokens {_count(state.spent.tokens)}{_of(limits.tokens, _count)}")
        if known.overall.laps_left:
            text.append(f"  about {known.overall.laps_left} more", style="dim")
        return text

    def gates(self, state: RunState, known: Overview) -> Text:
        """Each gate's latest verdict; dim if it is from the lap before."""
        text = Text("gates ")
        latest = state.open.verdicts if state.open else {}
        last = state.last.verdicts if state.last else {}
        for gate in state.plan.gates:
            verdict = latest.get(gate.name)
            text.append(" ")
            text.append_text(
                self._gate(gate, verdict or last.get(gate.name), known.gates[gate.name], old=verdict is None)
            )
        return text

    def findings(self, state: RunState) -> list[Text]:
        """What fails by name, then what was fixed last, struck out; names that don't fit are counted."""
        fixed, red = _fixed_and_red(state)
        rows = self._names(red, "", "red", RED_ROWS)
        struck = self._names(fixed, f"{self._marks['pass']} ", "strike dim", 1)
        if not red and not fixed:
            rows = [Text("nothing" if state.last else "")]
        elif len(rows) == 1 and struck and self._fits(rows[0], struck[0]):
            rows = [Text("  ").join([rows[0], struck[0]])]
        else:
            rows += struck
        return [Text(f"{'' if number else 'red':<7}").append_text(row) for number, row in enumerate(rows)]

    def _names(self, names: list[str], mark: str, style: str, most: int) -> list[Text]:
        """Names, in at most this many rows."""
        rows: list[Text] = []
        for number, name in enumerate(names):
            left = len(names) - number
            more = Text(f"and {left} more", style="dim")
            last = left > 1 and len(rows) >= most - 1  # what follows it may only be counted
            room = self._width - 7 - columns_of(mark) - (columns_of(more.plain) + 2 if last else 0)
            shown = Text(mark, style="green").append(short(name, min(60, room)), style=style)
            after = [more] if left > 1 and len(rows) == most else []
            if rows and self._fits(rows[-1], shown, *after):
                rows[-1] = Text("  ").join([rows[-1], shown])
            elif len(rows) == most:
                rows[-1] = Text("  ").join([rows[-1], more])
                break
            else:
                rows.append(shown)
        return rows

    def _fits(self, *parts: Text) -> bool:
        """Whether they fit on one line beside its name."""
        return 7 + sum(columns_of(part.plain) + 2 for part in parts) - 2 <= self._width

    def history(self, state: RunState) -> Text:
        """The score of each lap as a bar, and the verdicts of the gates that fail, lap by lap."""
        laps = state.baseline_and_laps[-MOST_LAPS:]
        text = Text("score  ")
        text.append(spark([lap.score for lap in laps], ascii_only=self._ascii), style="cyan")
        last = state.last.verdicts if state.last else {}
        for gate in state.plan.gates:
            if gate.name not in last or last[gate.name].status not in ("fail", "error"):
                continue
            text.append(f"   {short(gate.name, 16)} ")
            for lap in laps[-FEW_LAPS:]:
                seen = lap.verdicts.get(gate.name)
                status = seen.status if seen else "skip"
                text.append(self._marks[status][0], style=_COLORS[status])
        return text

    def lap_heading(self, state: RunState) -> str:
        """The names of the columns of `lap_rows`."""
        names = [padded(name, width) for name, width in self._gate_columns(state)]
        columns = self._fitting(["lap", *names, "score", "cost  ", "time  "])
        return self._beside(columns, WHAT) or columns.rstrip()

    def lap_rows(self, state: RunState, lap: Lap, what: str) -> list[str]:
        """A finished lap in one line; what happened is below it where it doesn't fit beside it."""
        cells = []
        for gate, (_, width) in zip(state.plan.gates, self._gate_columns(state), strict=True):
            verdict = lap.verdicts.get(gate.name, _NOT_RUN)
            mark = self._marks[verdict.status] + (str(verdict.count) if verdict.count else "")
            cells.append(padded(mark + ("~" if verdict.flaky else ""), width))
        cost = f"${lap.cost:.2f}" if lap.cost else "-"
        figures = [f"{lap.score:<5.2f}", f"{cost:<6}", f"{seconds(lap.duration):<6}"]
        columns = self._fitting([f"{lap.number:<3}", *cells, *figures])
        beside = self._beside(columns, what)
        return (
            [beside]
            if beside
            else [columns.rstrip(), *(f"     {each}" for each in folded(what, self._width - 5))]
        )

    def _fitting(self, cells: list[str]) -> str:
        """As many columns as there is room for; those on the right matter least."""
        while len(cells) > 2 and columns_of("  ".join(cells).rstrip()) > self._width:
            cells = cells[:-1]
        return "  ".join(cells)

    def _beside(self, columns: str, text: str) -> str:
        """Both on one line, or nothing."""
        return line if columns_of(line := f"{columns}  {text}") <= self._width else ""

    def _gate_columns(self, state: RunState) -> list[tuple[str, int]]:
        names = [self._plain(short(gate.name, LONGEST_GATE)) for gate in state.plan.gates]
        return [(name, max(4, columns_of(name))) for name in names]

    def _plain(self, name: str) -> str:
        """As it is drawn, since an ellipsis is wider in ASCII."""
        return in_ascii(name) if self._ascii else name

    def _gate(self, gate: GateSpec, verdict: Verdict | None, change: Progress, *, old: bool) -> Text:
        status = verdict.status if verdict else "skip"
        style = f"dim {_COLORS[status]}" if old else _COLORS[status]
        said = f"{self._marks[status]} {inert(gate.name)}"
        if verdict and verdict.status == "fail":
            said += f": {verdict.count} failing"
            changes = [f"{len(change.fixed)} fixed"] if change.fixed else []
            changes += [f"{len(change.new)} new"] if change.new else []
            said += f" ({', '.join(changes)})" if changes and old else ""
        elif verdict and verdict.status == "error":
            said += ": broken"
        said += " flaky" if verdict and verdict.flaky else ""
        return Text(said + " ", style=style.replace("dim dim", "dim"))


def lap_words(state: RunState) -> str:
    """Which lap it is, and of how many."""
    lap = state.open.number if state.open else len(state.laps)
    if lap == 0:
        return "baseline"
    most = state.plan.most_laps
    return f"lap {lap} of {most}" if most else f"lap {lap}"


def seconds(passed: float) -> str:
    """Whole seconds: running tenths would distract."""
    return show_duration(float(int(max(0.0, passed))))


def changes_words(lap: Lap, known: Overview) -> str:
    """What a lap changed about the findings, by name; for the first one, only how many there are."""
    overall = known.overall
    if overall.previous is None:
        return several(lap.count, "finding")
    parts = [
        f"{verb} {len(names)}: {', '.join(short(finding_name(each), 60) for each in names[:3])}{_more(names)}"
        for verb, names in (("fixed", overall.fixed), ("broke", overall.broken), ("new", overall.new))
        if names
    ]
    return "; ".join(parts) or "nothing fixed"


def finding_name(failing: str) -> str:
    """The part of a finding's id that tells it apart: `test_total` of `tests: test_cart.Cart.test_total`."""
    name = failing.partition(": ")[2] or failing
    if " " in name or "/" in name.rpartition("::")[2]:
        return name
    return name.rpartition("::")[2] if "::" in name else name.rpartition(".")[2] or name


def _more(names: tuple[str, ...]) -> str:
    return f" and {len(names) - 3} more" if len(names) > 3 else ""


def _fixed_and_red(state: RunState) -> tuple[list[str], list[str]]:
    """Findings that the latest verdict of each gate no longer names, and those that it does."""
    looks = [
        *(lap.verdicts for lap in state.baseline_and_laps[-2:]),
        *([state.open.verdicts] if state.open and state.open.verdicts else []),
    ]
    fixed: set[str] = set()
    red: set[str] = set()
    for gate in state.plan.gates:
        seen = [look[gate.name].failing(gate.name) for look in looks if gate.name in look]
        if seen:
            red |= seen[-1]
            fixed |= (seen[-2] - seen[-1]) if len(seen) > 1 else frozenset()
    return sorted(map(finding_name, fixed)), sorted(map(finding_name, red))


def _count(number: float) -> str:
    """412k rather than 412,345: running digits would distract, too."""
    if number < 10_000:
        return f"{number:,.0f}"
    return f"{number / 1000:.0f}k" if number < 1_000_000 else f"{number / 1_000_000:.3g}M"


def _of(limit: float | str | None, show: Callable[[float], str]) -> str:
    return "" if limit is None else f" of {show(ceiling(limit))}"
