"""backtest: replay past runs with other detectors and strategies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
from cyclopts import Parameter

from untilgreen.errors import UserError
from untilgreen.surfaces.cli import completers
from untilgreen.surfaces.cli.options import HERE, LocalPlace
from untilgreen.surfaces.cli.verbs.backtest_runs import own_runs
from untilgreen.surfaces.text.printing import out, out_json, tell, version_line

if TYPE_CHECKING:
    from untilgreen.backtest.parallel import Read
    from untilgreen.backtest.score import Played
    from untilgreen.core.values.model import PartSpec

_Strategies = Annotated[
    list[str] | None,
    Parameter(
        name=["--strategy", "-s"],
        completer=completers.strategies,
        metavar="NAME",
        help="With --runs: a strategy to compare, or a table such as "
        "'{ use = \"hybrid\", base = 4 }'. Repeat for more. With --trajectories: the one that decides; "
        "without it, the first stuck signal ends a run.",
    ),
]
_Learn = Annotated[
    bool,
    Parameter(
        name="--learn",
        help="Let adaptive learn from the runs before each one, agent by agent.",
    ),
]
_Detectors = Annotated[
    list[str] | None,
    Parameter(
        completer=completers.detectors,
        metavar="NAME",
        help="Use only this detector, or a table such as "
        "'{ use = \"cycle\", repeats = 4 }'. Repeat for more.",
    ),
]


def backtest(
    *,
    trajectories: Annotated[
        Path | None, Parameter(metavar="FILE", help="Recorded runs of any agent: JSON lines, gzipped or not.")
    ] = None,
    decisions: Annotated[
        Path | None, Parameter(metavar="FILE", help="Write where each run would have been stopped.")
    ] = None,
    runs: Annotated[
        bool, Parameter(name="--runs", help="Replay your own runs with other strategies.")
    ] = False,
    all_: Annotated[
        bool, Parameter(name="--all", help="With --runs: include runs of every directory.")
    ] = False,
    strategy: _Strategies = None,
    learn: _Learn = False,
    svg: Annotated[Path | None, Parameter(metavar="FILE", help="With --runs: also write a chart.")] = None,
    detector: _Detectors = None,
    jobs: Annotated[
        int | None,
        Parameter(name=["--jobs", "-j"], metavar="N", help="With --trajectories: number of processes."),
    ] = None,
    place: LocalPlace = HERE,
    json: Annotated[bool, Parameter(name="--json", help="Print JSON lines; rates are from 0 to 1.")] = False,
) -> int:
    """Replay past runs with other detectors and strategies.

    Starts no agent.
    """
    detectors = parts("detector", detector or [])
    if runs:
        _refuse("--runs", {"--trajectories": trajectories, "--decisions": decisions, "--jobs": jobs})
        strategies = parts("strategy", strategy or [])
        return own_runs(place, strategies, detectors, svg, all_=all_, learn=learn, json=json)
    if trajectories is None:
        raise UserError(
            "Nothing to replay. Name recorded runs with --trajectories FILE, or use your own with --runs."
        )
    _refuse("--trajectories", {"--svg": svg, "--all": all_ or None})
    return _trajectories(
        trajectories,
        decisions,
        detectors,
        _one_strategy(strategy or [], learn=learn),
        jobs,
        learn=learn,
        json=json,
    )


def _one_strategy(written: list[str], *, learn: bool) -> PartSpec | None:
    """The strategy that decides about recorded runs; only adaptive learns."""
    from untilgreen.core.values.model import ADAPTIVE

    named = parts("strategy", written or ([ADAPTIVE] if learn else []))
    if len(named) > 1:
        raise UserError("--trajectories takes one --strategy. Start once for each, with another --decisions.")
    if learn and named[0].name != ADAPTIVE:
        raise UserError(f"--learn needs --strategy {ADAPTIVE}: {named[0].name!r} learns nothing.")
    return named[0] if named else None


def _refuse(mode: str, others: Mapping[str, object]) -> None:
    """Refuse options that would have no effect."""
    for flag, value in others.items():
        if value is not None:
            raise UserError(f"{flag} can't be used with {mode}. Remove one of them.")


def parts(kind: str, written: list[str]) -> tuple[PartSpec, ...]:
    """Plugins as the spec writes them: a name, or a table with `use`."""
    from untilgreen.config.checks.plugin_refs import part_of
    from untilgreen.config.sources.from_text import toml_value
    from untilgreen.config.sources.layers import Layers

    return tuple(part_of(Layers(), (kind,), toml_value(each)) for each in written)


def _trajectories(
    path: Path,
    decisions: Path | None,
    named: tuple[PartSpec, ...],
    strategy: PartSpec | None,
    jobs: int | None,
    *,
    learn: bool,
    json: bool,
) -> int:
    from untilgreen.backtest.score import figures
    from untilgreen.core.defaults import DETECTORS
    from untilgreen.core.values.model import PartSpec
    from untilgreen.surfaces.backtest.detector_tables import SourceLine, measures

    if jobs is not None and jobs < 1:
        raise UserError(f"--jobs must be at least 1, not {jobs}.")
    detectors = named or tuple(PartSpec(name=name) for name in DETECTORS)
    with _written(decisions) as draft, _bar(path) as read:
        runs = _played(path, detectors, strategy, jobs, read, learn=learn)
        if draft is not None:
            draft.write_bytes(b"".join(_line(run) for run in runs))
    sources = figures(runs)
    if json:
        version_line()
        for source in sources:
            out_json(SourceLine(**msgspec.structs.asdict(source)))
        return 0
    for line in measures(sources):
        out(line)
    if decisions is not None:
        tell(f"Wrote {len(runs):,} decisions to {decisions}.")
    return 0


def _played(
    path: Path,
    detectors: tuple[PartSpec, ...],
    strategy: PartSpec | None,
    jobs: int | None,
    read: Read,
    *,
    learn: bool,
) -> list[Played]:
    """Every run of the file; a wrong name is reported before anything is read."""
    import anyio

    from untilgreen.backtest.learning import play_learning
    from untilgreen.backtest.parallel import cores, make_detectors, make_strategy, play
    from untilgreen.core.strategies.adaptive import Adaptive

    watching = make_detectors(detectors, Path.cwd())
    deciding = make_strategy(strategy, Path.cwd()) if strategy is not None else None
    if learn and isinstance(deciding, Adaptive):
        return play_learning(path, watching, deciding, read)
    return anyio.run(play, path, detectors, strategy, jobs or cores(), read)


def _line(run: Played) -> bytes:
    return msgspec.json.encode(run.decision) + b"\n"


@contextmanager
def _written(path: Path | None) -> Iterator[Path | None]:
    """A draft beside the file, which replaces it once all is written."""
    if path is None:
        yield None
        return
    draft = path.with_name(f".{path.name}.draft")
    try:
        draft.write_bytes(b"")
        yield draft
        draft.replace(path)
    except OSError as error:
        raise UserError(f"{path} can't be written: {error.strerror}. Name another file.") from error
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def _bar(path: Path) -> Iterator[Read]:
    """A progress bar, on a terminal only."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.percentage:>3.0f}%"), BarColumn(), TimeRemainingColumn())
    size = path.stat().st_size if path.is_file() else 0
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("replay", total=size or None)
        done = [0]

        def read(position: int) -> None:
            done[0] = max(done[0], position)
            progress.update(task, completed=done[0])

        yield read
