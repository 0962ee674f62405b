"""Where the spec is searched for, and the errors when it can't be read."""

import os
import stat
from pathlib import Path

import pytest

from untilgreen.config.sources.find import LARGEST, find, read
from untilgreen.errors import ConfigError

MEMORY = Path("/proc/self/mem")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with a directory in it."""
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / "src" / "deep").mkdir(parents=True)
    return tmp_path / "repo"


def finding(path: Path, shown: str | None = None) -> str:
    with pytest.raises(ConfigError) as caught:
        read(path, shown)
    return str(caught.value)


def test_the_spec_of_a_directory_is_found_in_it(project: Path) -> None:
    (project / "untilgreen.toml").touch()

    assert find(project) == project / "untilgreen.toml"


def test_the_nearest_spec_upwards_is_found(project: Path) -> None:
    (project / "untilgreen.toml").touch()
    (project / "src" / "pyproject.toml").write_text("[tool.untilgreen]\n")

    assert find(project / "src" / "deep") == project / "src" / "pyproject.toml"


def test_the_search_ends_at_the_root_of_the_repository(project: Path) -> None:
    (project.parent / "untilgreen.toml").touch()

    assert find(project / "src" / "deep") is None


def test_a_work_tree_whose_git_is_a_file_ends_the_search_too(project: Path) -> None:
    (project.parent / "untilgreen.toml").touch()
    (project / "src" / ".git").write_text("gitdir: elsewhere\n")

    assert find(project / "src" / "deep") is None


def test_without_a_repository_the_search_continues_upwards(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "untilgreen.toml").touch()

    assert find(tmp_path / "a" / "b") == tmp_path / "untilgreen.toml"


def test_a_spec_further_up_in_a_shared_directory_is_not_found(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    (shared / "mine").mkdir(parents=True)
    shared.chmod(0o777 | stat.S_ISVTX)
    (shared / "untilgreen.toml").touch()

    assert find(shared / "mine") is None
    assert find(shared) == shared / "untilgreen.toml"


def test_our_own_file_wins_over_the_table_in_pyproject(project: Path) -> None:
    (project / "untilgreen.toml").touch()
    (project / "pyproject.toml").write_text("[tool.untilgreen]\n")

    assert find(project) == project / "untilgreen.toml"


@pytest.mark.parametrize(
    "text",
    [
        "[tool.untilgreen]\n",
        "[tool.untilgreen.limits]\ncost = 5\n",
        '[tool]\n"untilgreen" = { task = "x" }\n',
        "tool.untilgreen.task = 'x'\n",
        "[tool.untilgreen]\ntask = \n",
    ],
)
def test_pyproject_is_a_spec_when_it_has_our_table(project: Path, text: str) -> None:
    (project / "pyproject.toml").write_text(text)

    assert find(project) == project / "pyproject.toml"


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[tool.ruff]\nline-length = 100\n",
        b"# no [tool.untilgreen] yet\n",
        b"[tool.untilgreenish]\n",
        b"dependencies = ['untilgreen']\n",
        b"tool = 'untilgreen'\n",
        b"untilgreen = [\n",
        b"\xff\xfe no text at all",
    ],
)
def test_pyproject_without_our_table_is_none_of_our_business(project: Path, text: bytes) -> None:
    (project / "pyproject.toml").write_bytes(text)

    assert find(project) is None


def test_a_directory_with_the_name_of_a_spec_is_not_a_spec(project: Path) -> None:
    (project / "untilgreen.toml").mkdir()

    assert find(project) is None


def test_a_path_that_cannot_be_looked_at_counts_as_missing(project: Path) -> None:
    (project / "untilgreen.toml").touch()

    assert find(project / ("too long a name" * 50)) == project / "untilgreen.toml"


def test_values_come_with_the_source_that_errors_name(tmp_path: Path) -> None:
    path = tmp_path / "untilgreen.toml"
    path.write_text("task = 'x'\n[limits]\ncost = 5\n")

    values, source = read(path)

    assert values == {"task": "x", "limits": {"cost": 5}}
    assert source.place(("limits", "cost")) == "untilgreen.toml, line 3"
    assert source.path == path


def test_the_source_is_called_as_it_was_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "ci.toml"
    path.write_text("task = 'x'\n")

    _, source = read(path, "../ci.toml")

    assert source.place(("task",)) == "../ci.toml, line 1"


def test_pyproject_gives_the_values_of_our_table_with_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text(
        "[project]\nname = 'x'\n\n[tool.untilgreen]\nleave = 'last'\n[tool.untilgreen.limits]\ncost = 5\n"
    )

    values, source = read(path)

    assert values == {"leave": "last", "limits": {"cost": 5}}
    assert source.place(("leave",)) == "pyproject.toml, line 5"
    assert source.place(("limits", "cost")) == "pyproject.toml, line 7"


def test_a_byte_order_mark_and_windows_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "untilgreen.toml"
    path.write_bytes(b"\xef\xbb\xbftask = 'x'\r\nleave = 'last'\r\n")

    values, source = read(path)

    assert values == {"task": "x", "leave": "last"}
    assert source.place(("leave",)) == "untilgreen.toml, line 2"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("task = 'x'\nagent claude\n", "untilgreen.toml, line 2: this is not TOML: Expected '='"),
        ("a = 1\na = 2\n\n", "untilgreen.toml, line 2: this is not TOML: Cannot overwrite a value"),
        ("agents = [\n", "untilgreen.toml: this is not TOML: "),
        ("a = " + "1" * 5000, "untilgreen.toml: this is not TOML: Exceeds the limit"),
        ("a = " + "[" * 3000 + "]" * 3000, "untilgreen.toml is nested too deeply"),
    ],
)
def test_invalid_toml_is_reported_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "untilgreen.toml"
    path.write_text(text)

    assert finding(path).startswith(said)


def test_invalid_utf8_is_reported_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "untilgreen.toml"
    path.write_bytes("task = 'x'\nagent = 'caf\u00e9'\n".encode("latin-1"))

    assert finding(path) == "untilgreen.toml, line 2: this is not UTF-8. Save the file as UTF-8."


@pytest.mark.skipif(not MEMORY.exists(), reason="needs a file that even root can't read, such as Linux has")
def test_a_file_that_cannot_be_read_is_reported_with_a_way_out(tmp_path: Path) -> None:
    path = tmp_path / "untilgreen.toml"
    path.symlink_to(MEMORY)

    assert finding(path).startswith("untilgreen.toml can't be read: ")
    assert finding(path).endswith("or name another with --config.")


def test_a_file_that_is_not_there_is_called_as_it_was_asked_for(tmp_path: Path) -> None:
    assert finding(tmp_path / "x.toml", "~/x.toml").startswith("There is no file ~/x.toml. Write one")
    (tmp_path / "y.toml").write_text("")
    assert "Did you mean 'y.toml'?" in finding(tmp_path / "x.toml", "~/x.toml")


def test_pyproject_without_our_table_is_an_error_when_it_was_named(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text("tool = 5\n")

    assert finding(path).startswith("pyproject.toml has no table [tool.untilgreen].")


def test_our_table_in_pyproject_must_be_a_table(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text("[tool]\nuntilgreen = true\n")

    assert finding(path).startswith("pyproject.toml, line 2: tool.untilgreen must be a table.")


@pytest.mark.timeout(30)
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_in_place_of_a_spec_is_not_waited_for(project: Path) -> None:
    os.mkfifo(project / "pyproject.toml")
    os.mkfifo(project / "untilgreen.toml")

    assert find(project) is None


def test_a_spec_of_any_size_is_refused_unread(project: Path) -> None:
    for name in ("untilgreen.toml", "pyproject.toml"):
        with (project / name).open("wb") as file:
            file.write(b"[tool.untilgreen]\n")
            file.truncate(LARGEST + 1)

    with pytest.raises(ConfigError, match=r"has more than 10,000,000 bytes, too large for a spec"):
        read(project / "untilgreen.toml")
    (project / "untilgreen.toml").unlink()
    assert find(project) is None


def test_a_key_of_too_many_parts_is_reported(tmp_path: Path) -> None:
    """The parser's time grows with the square of the number of parts."""
    (tmp_path / "untilgreen.toml").write_text("task = 'x'\n" + "a." * 150 + "b = 1\n")

    with pytest.raises(ConfigError, match="line 2: this is not TOML: a key has more than 100 parts"):
        read(tmp_path / "untilgreen.toml")
