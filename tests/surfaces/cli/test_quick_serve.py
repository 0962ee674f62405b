"""Plain flags of `serve` are read without the parser and mean the same; all others are left to it."""

import subprocess
import sys
from pathlib import Path

import pytest

from untilgreen.surfaces.cli.main import make_app
from untilgreen.surfaces.cli.quick_serve import Settings, plain


def test_it_knows_every_flag_of_the_verb() -> None:
    verb = make_app()["serve"]
    named = {name for argument in verb.assemble_argument_collection() for name in argument.names}
    flags = {name for name in named if not name.startswith("--no-")} - {"*"}
    ours = {f"--{name.replace('_', '-')}" for name in Settings.__struct_fields__}

    assert flags == ours | {"--cd", "-C"}


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        ([], Settings()),
        (["--port", "0", "--read-only"], Settings(port=0, read_only=True)),
        (["--port=8000", "--root", "a", "--root=b"], Settings(port=8000, root=(Path("a"), Path("b")))),
        (["--state-dir", "x", "--open", "--yolo"], Settings(state_dir=Path("x"), open=True, yolo=True)),
        (["--allow-host", "runs.example.org"], Settings(allow_host=("runs.example.org",))),
        (["--fleet"], Settings(fleet=True)),
    ],
)
def test_plain_flags(words: list[str], settings: Settings) -> None:
    assert plain(words) == settings


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["--port"],
        ["--port", "many"],
        ["--port", "1", "--port", "2"],
        ["--prot", "1"],
        ["--read_only"],
        ["--read-only=yes"],
        ["--root", "--read-only"],
        ["-C", "x"],
        ["word"],
        ["--no-open"],
        ["--no-fleet"],
    ],
)
def test_what_is_not_plain_is_left_to_the_parser(words: list[str]) -> None:
    assert plain(words) is None


def test_listening_needs_neither_the_parser_nor_the_engine() -> None:
    code = (
        "import sys; from untilgreen.surfaces.cli import quick_serve, caller; "
        "import untilgreen.surfaces.web.server; "
        "print([m for m in ('cyclopts', 'rich', 'psutil', 'untilgreen.core.loop.fold') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"
