"""backtest: what detectors and strategies would have done with runs that are over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
from cyclopts import Parameter

from untilgreen.errors import UserError
from untilgreen.surfaces.cli import completing
from untilgreen.surfaces.cli.options import HERE, Place
from untilgreen.surfaces.cli.own_runs import own_runs
from untilgreen.surfaces.cli.say import out, out_json, tell, version_line

if TYPE_CHECKING:
    from untilgreen.backtest.score import Played
    from untilgreen.backtest.spread import Read
    from untilgreen.core.model import PartSpec


def backtest(
    *,
    trajectories: Annotated[
        Path | None, Parameter(help="Recorded runs of any agent: a file of JSON lines, gzipped or not.")
    ] = None,
    decisions: Annotated[
        Path | None, Parameter(help="Write here, for each run, where it would have been stopped.")
    ] = None,
    runs: Annotated[bool, Parameter(name="--runs", help="Your own runs, with other strategies.")] = False,
    all_: Annotated[bool, Parameter(name="--all", help="With --runs: those of every directory.")] = False,
    strategy: Annotated[
        list[str] | None,
        Parameter(
            name=["--strategy", "-s"],
            completer=completing.strategies,
            help="With --runs: compare with this strategy; a name, or a table such as "
            "'{ use = \"hybrid\", base = 4 }'. Repeat it for more.",
        ),
    ] = None,
    svg: Annotated[Path | None, Parameter(help="With --runs: write the picture here, too.")] = None,
    detector: Annotated[
        list[str] | None,
        Parameter(
            completer=completing.detectors,
            help="Use this detector, and no other that is not named; a name, or a table such as "
            "'{ use = \"cycle\", repeats = 4 }'. Repeat it for more.",
        ),
    ] = None,
    jobs: Annotated[
        int | None, Parameter(name=["--jobs", "-j"], help="With --trajectories: use so many processors.")
    ] = None,
    place: Place = HERE,
    json: Annotated[bool, Parameter(name="--json", help="Print JSON lines; rates are parts of 1.")] = False,
) -> int:
    """See what detectors and strategies would have done with runs that are over. No agent is started."""
    detectors = parts("detector", detector or [])
    if runs:
        _refuse("--runs", {"--trajectories": trajectories, "--decisions": decisions, "--jobs": jobs})
        return own_runs(place, parts("strategy", strategy or []), detectors, svg, all_=all_, json=json)
    if trajectories is None:
        raise UserError(
            "There is nothing to look at. Name recorded runs with --trajectories FILE, "
            "or take your own with --runs."
        )
    _refuse("--trajectories", {"--strategy": strategy, "--svg": svg, "--all": all_ or None})
    return _trajectories(trajectories, decisions, detectors, jobs, json=json)


def _refuse(mode: str, others: Mapping[str, object]) -> None:
    """What would have no effect is not taken in silence."""
    for flag, value in others.items():
        if value is not None:
            raise UserError(f"{flag} does not go with {mode}. Leave one of them out.")


def parts(kind: str, written: list[str]) -> tuple[PartSpec, ...]:
    """Plugins as the spec writes them: a name, or a table with `use`."""
    from untilgreen.config.layers import Layers
    from untilgreen.config.parts import part_of
    from untilgreen.config.written import toml_value

    return tuple(part_of(Layers(), (kind,), toml_value(each)) for each in written)


def _trajectories(
    path: Path, decisions: Path | None, named: tuple[PartSpec, ...], jobs: int | None, *, json: bool
) -> int:
    import anyio

    from untilgreen.backtest.score import figures
    from untilgreen.backtest.spread import cores, made, play
    from untilgreen.core.defaults import DETECTORS
    from untilgreen.core.model import PartSpec
    from untilgreen.surfaces.backtest import SourceLine, measures

    if jobs is not None and jobs < 1:
        raise UserError(f"--jobs {jobs} is no number of processors. Use 1 or more.")
    detectors = named or tuple(PartSpec(name=name) for name in DETECTORS)
    made(detectors, Path.cwd())  # a wrong name is said before anything is read
    with _written(decisions) as draft, _bar(path) as read:
        runs = anyio.run(play, path, detectors, jobs or cores(), read)
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
        tell(f"{len(runs):,} decisions are in {decisions}.")
    return 0


def _line(run: Played) -> bytes:
    return msgspec.json.encode(run.decision) + b"\n"


@contextmanager
def _written(path: Path | None) -> Iterator[Path | None]:
    """A draft beside the file, which takes its place once all went well."""
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
    """How much of the file is done, on a terminal only."""
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
