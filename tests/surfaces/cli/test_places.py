"""Where runs work: repositories and parts of them, plain directories, odd names, one run at a time."""

import os
import signal
import sys
from pathlib import Path

import pytest

from tests.surfaces.cli.helpers import (
    CALC_TESTS,
    GREEN_CALC,
    RED_CALC,
    UNITTEST,
    Cli,
    eventually,
    git,
    repository,
    write,
)

FIX = "cat > /dev/null\nsed 's/a - b/a + b/' calc.py > new && mv new calc.py\n"
FILES = {"calc.py": RED_CALC, "test_calc.py": CALC_TESTS}


def converges(cli: Cli, place: Path) -> None:
    """Check that a run started in this place fixes the project there."""
    done = cli("run", "Mend it.", "--agent", cli.agent(FIX), "--gate", UNITTEST, cwd=place)

    assert done.code == 0, done
    assert (place / "calc.py").read_text() == GREEN_CALC


def test_a_run_can_start_in_a_part_of_a_repository(cli: Cli) -> None:
    root = repository(cli.tmp / "whole", {f"part/{name}": text for name, text in FILES.items()})

    converges(cli, root / "part")

    assert cli.ids[0] in cli("list", cwd=root).out
    assert "+    return a + b" in cli("diff", cwd=root / "part").out
    assert git(root, "status", "--porcelain") == " M part/calc.py\n"


def test_a_run_can_start_in_a_directory_without_git(cli: Cli) -> None:
    place = cli.tmp / "plain"
    write(place, FILES)

    converges(cli, place)

    assert not (place / ".git").exists()
    restored = cli("restore", "@last@0", cwd=place)
    assert restored.code == 0
    assert (place / "calc.py").read_text() == RED_CALC
    back = restored.out.partition("untilgreen restore ")[2].split()
    assert cli("restore", *back, cwd=place).code == 0
    assert (place / "calc.py").read_text() == GREEN_CALC


def test_names_with_blanks_and_foreign_letters_are_fine(cli: Cli) -> None:
    converges(cli, repository(cli.tmp / "höhle & 洞窟 'x' $HOME", FILES))


def test_the_directory_can_be_named_from_elsewhere(cli: Cli) -> None:
    place = repository(cli.tmp / "there", FILES)

    done = cli("run", "Mend it.", "-C", str(place), "-a", cli.agent(FIX), "-g", UNITTEST, cwd=cli.tmp)

    assert done.code == 0
    assert (place / "calc.py").read_text() == GREEN_CALC
    assert cli.ids[0] in cli("list", "-C", "there", cwd=cli.tmp).out


@pytest.mark.skipif(sys.platform != "linux", reason="other systems don't allow such names")
def test_a_directory_whose_name_is_not_utf_8_is_refused_with_a_clear_error(cli: Cli) -> None:
    place = Path(os.fsdecode(os.fsencode(cli.tmp) + b"/\xff"))
    place.mkdir()

    done = cli("run", "Mend it.", "--agent", "cmd:true", "--gate", "false", cwd=place)

    assert done.code == 2
    assert "is not UTF-8" in done.err


def test_a_state_directory_inside_the_workspace_is_refused_and_leaves_nothing(cli: Cli) -> None:
    inside = cli.place / "state"

    done = cli("run", "Mend it.", "-a", "cmd:true", "-g", "false", "--state-dir", str(inside))

    assert done.code == 2
    assert "--state-dir" in done.err
    assert not list(inside.glob("runs/*"))


def test_a_directory_that_cannot_be_worked_in_is_refused_before_a_run_is_named(cli: Cli) -> None:
    home = Path(cli.env["HOME"])

    done = cli("run", "Mend it.", "--agent", "cmd:true", "--gate", "false", cwd=home)

    assert done.code == 2
    assert done.err.startswith("error: ")
    assert "your home directory" in done.err
    assert cli.ids == []


def test_what_is_left_out_of_snapshots_is_reported(cli: Cli) -> None:
    repository(cli.place / "vendor" / "inner", {"file": ""})

    done = cli("run", "Mend it.", "--agent", cli.agent("touch done\n"), "--gate", "test -f done")

    assert done.code == 0
    assert "note: Nested repositories are not part of snapshots: vendor/inner" in done.err


def test_a_second_run_in_a_directory_is_refused_with_the_firsts_id_and_leaves_nothing(cli: Cli) -> None:
    hanging = cli.agent(f"cat > /dev/null\ntouch {cli.tmp}/began\nexec sleep 60\n")
    started = cli.start("run", "Mend it.", "--agent", hanging, "--gate", "false")
    eventually((cli.tmp / "began").exists)
    (first,) = cli.ids
    (cli.place / "part").mkdir()

    second = cli("run", "Mend it, too.", "--agent", "cmd:true", "--gate", "false")
    below = cli("run", "Mend a part.", "--agent", "cmd:true", "--gate", "false", cwd=cli.place / "part")
    listed = [line["run"] for line in cli("list", "--all", "--json").lines if line["type"] == "run"]
    started.signal(signal.SIGINT)
    started.end()

    assert (second.code, below.code) == (2, 2)
    assert f"Run {first} is working in" in second.err
    assert listed == [first]


def test_of_two_runs_that_start_together_one_works_and_the_other_leaves_nothing(cli: Cli) -> None:
    hanging = cli.agent(f"cat > /dev/null\ntouch {cli.tmp}/began\nexec sleep 60\n")
    both = [cli.start("run", f"{name}.", "-a", hanging, "-g", "false") for name in ("One", "Two")]
    eventually((cli.tmp / "began").exists, "a turn")
    loser = eventually(lambda: next((each for each in both if each.process.poll() is not None), None))
    (winner,) = (each for each in both if each is not loser)

    refused, listed = loser.end(), cli("list", "--json").lines[1:]
    winner.signal(signal.SIGINT)

    assert winner.end().code == 130
    assert refused.code == 2
    assert "is working in" in refused.err
    assert len(listed) == 1


def test_a_run_whose_directory_is_gone_cannot_continue_and_says_so(cli: Cli) -> None:
    place = repository(cli.tmp / "short-lived", {})
    waits = ("--strategy", "manual", "--no-input")
    cli("run", "Mend it.", "--agent", "cmd:true", "--gate", "false", *waits, cwd=place)
    place.rename(cli.tmp / "moved")

    done = cli("resume", cli.ids[0])

    assert done.code == 2
    assert "does not exist. Put it back" in done.err
    assert cli("cancel", cli.ids[0]).code == 0
    assert cli("list", "--all").code == 0
