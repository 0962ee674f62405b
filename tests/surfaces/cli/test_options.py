"""Flags become keys of the spec."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.surfaces.cli.helpers import Invoke
from untilgreen.surfaces.cli import remote
from untilgreen.surfaces.cli.main import reference
from untilgreen.surfaces.cli.options import SpecFlags


@pytest.mark.parametrize(("yolo", "permissions"), [(False, "gates"), (True, "all")])
def test_yolo_permits_everything(tmp_path: Path, yolo: bool, permissions: str) -> None:
    flags = SpecFlags(agent=["cmd:true"], gate=["true"], yolo=yolo)

    assert flags.load(tmp_path, "Do it.").spec.file.permissions == permissions


def test_help_offers_a_server_only_where_it_can_be_used() -> None:
    text = reference()
    verbs = {part.split("\n", 1)[0]: part for part in re.split(r"^#{2,3} untilgreen ", text, flags=re.M)[1:]}
    offered = {name for name, part in verbs.items() if "`--server URL`" in part}

    assert offered == {name for name in remote.app if not name.startswith("-")}


@pytest.mark.skipif(find_spec("psycopg") is not None, reason="the fleet's libraries are installed")
@pytest.mark.parametrize(
    "words",
    [
        "list --fleet",
        "show @last --fleet",
        "run x --agent cmd:true --gate true --fleet",
        "fleet workers",
        "fleet limit claude 3",
        "fleet schedule",
        "fleet export RUN DIR",
        "worker",
    ],
)
def test_every_command_of_a_fleet_says_how_to_install_its_libraries(invoke: Invoke, words: str) -> None:
    done = invoke(*words.split())

    assert (done.code, done.err) == (
        2,
        "error: The fleet's libraries are not installed. Install them: pip install 'untilgreen[fleet]'\n",
    )
