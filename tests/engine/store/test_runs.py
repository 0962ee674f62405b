"""Run folders: made once, found by what people type, readable by their owner only."""

import errno
import os
import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from platformdirs import user_state_path

from untilgreen.core.values.events import RunStarted
from untilgreen.core.values.model import Plan
from untilgreen.engine.store import run_ids
from untilgreen.engine.store.atomic_file import put
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.store.run_folder import Meta
from untilgreen.engine.store.runs import Store, default_state_dir
from untilgreen.errors import UserError
from untilgreen.journal.codec import End, encode

posix = pytest.mark.skipif(sys.platform == "win32", reason="file modes are POSIX only")

NOW = 1_785_000_000.0


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "state")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_run_has_a_folder_with_a_place_for_everything(store: Store, project: Path) -> None:
    run = store.create(NOW, workspace=project)

    assert run.path == store.state_dir / "runs" / run.id
    assert run.journal == run.path / "journal.jsonl"
    assert run.lock == run.path / "lock"
    for place in (
        run.inbox,
        run.code,
        run.scratch.transcript(1).parent,
        run.scratch.output(1, "tests").parent,
    ):
        assert place.is_dir()
        assert place.parent == run.path


def test_the_names_of_files_contain_lap_attempt_and_gate() -> None:
    run = FolderRecord(Path("runs/abc")).scratch

    assert run.pointer(run.transcript(3)) == "activity/003.jsonl"
    assert run.pointer(run.transcript(3, attempt=2)) == "activity/003-2.jsonl"
    assert run.pointer(run.brief(3)) == "activity/003-brief.md"
    assert run.pointer(run.brief(3, attempt=2)) == "activity/003-2-brief.md"
    assert run.pointer(run.output(3, "tests")) == "output/003-tests.txt"


def test_the_processes_under_way_are_noted_one_file_each(store: Store, project: Path) -> None:
    run = store.create(NOW, workspace=project).scratch
    assert run.trees() == []
    for what in ("turn", "gate tests/unit"):
        run.tree(what).write_text("[]")

    assert sorted(run.trees()) == sorted([run.tree("turn"), run.tree("gate tests/unit")])
    assert {note.parent for note in run.trees()} == {run.path / "trees"}


@given(st.text(), st.integers(0, 5000))
def test_a_gate_can_have_any_name(gate: str, lap: int) -> None:
    output = FolderRecord(Path("runs/abc")).scratch.output(lap, gate)

    assert output.parent == Path("runs/abc/output")
    assert output.name.isascii()
    assert len(output.name) < 80
    assert not set(output.name) & set('/\\:*?"<>| \n\0')


@given(st.lists(st.text(), min_size=2, max_size=2, unique=True))
def test_two_gates_never_share_a_file(gates: list[str]) -> None:
    """Not even on a file system that ignores case."""
    one, other = (FolderRecord(Path("runs/abc")).scratch.output(1, gate).name.lower() for gate in gates)

    assert one != other


@posix
def test_only_the_owner_can_look_into_a_run(store: Store, project: Path) -> None:
    run = store.create(NOW, workspace=project)

    folders = [store.state_dir, run.path.parent, run.path, *(p for p in run.path.iterdir() if p.is_dir())]
    assert {mode(folder) for folder in folders} == {0o700}
    assert {mode(path) for path in run.path.iterdir() if path.is_file()} == {0o600}


@posix
def test_a_state_directory_that_was_there_keeps_its_mode(store: Store, project: Path) -> None:
    store.state_dir.mkdir()
    store.state_dir.chmod(0o755)

    store.create(NOW, workspace=project)

    assert mode(store.state_dir) == 0o755


def test_an_id_is_short_and_hard_to_misread(store: Store, project: Path) -> None:
    run = store.create(NOW, workspace=project)

    assert len(run.id) == 9
    assert set(run.id) <= set("0123456789abcdefghjkmnpqrstvwxyz")


def test_ids_sort_by_start_time(store: Store, project: Path) -> None:
    moments = [0.0, NOW, NOW + 0.1, NOW + 1, NOW + 40, NOW + 1e6, NOW + 6e8]
    created = [store.create(moment, workspace=project).id for moment in moments]

    assert created == sorted(created)
    assert [run.id for run in store.runs()] == created[::-1]


def test_runs_of_one_moment_all_get_their_own_folder(tmp_path: Path, project: Path) -> None:
    def create(_: int) -> str:
        return Store(tmp_path / "state").create(NOW, workspace=project).id

    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(create, range(200)))

    assert len(set(ids)) == 200
    assert {run.id for run in Store(tmp_path / "state").runs()} == set(ids)


def test_a_moment_whose_ids_are_all_taken_borrows_from_the_next(store: Store, project: Path) -> None:
    first = store.create(NOW, workspace=project)
    for one, other in product("0123456789abcdefghjkmnpqrstvwxyz", repeat=2):
        (first.path.parent / f"{first.id[:7]}{one}{other}").mkdir(exist_ok=True)

    second = store.create(NOW, workspace=project)

    assert second.id[:7] > first.id[:7]
    assert store.runs() == [second, first]


def test_a_run_is_found_by_its_id_and_by_how_it_begins(store: Store, project: Path) -> None:
    run, other = store.create(NOW, workspace=project), store.create(NOW + 1e6, workspace=project)

    assert store.find(run.id, project) == run
    assert store.find(other.id[:6], project) == other
    assert store.find(f" {run.id.upper()} ", project) == run


def test_letters_that_look_like_digits_are_read_as_digits(store: Store, project: Path) -> None:
    """No id contains an o, an i or an l."""
    run = store.create(1_704_067_200.0 + 33, workspace=project)
    assert run.id.startswith("0000110")

    assert store.find("oOooi" + "L" + run.id[6:], project) == run


def test_the_beginning_of_several_ids_is_refused_and_names_them(store: Store, project: Path) -> None:
    first = store.create(NOW, workspace=project, title="mend the login")
    second = store.create(NOW + 0.5, workspace=project, title="add a door")

    with pytest.raises(UserError) as caught:
        store.find(first.id[:4], project)

    assert str(caught.value) == (
        f"'{first.id[:4]}' matches 2 runs: {second.id} (add a door); {first.id} (mend the login). "
        "Type more of the id."
    )


def test_of_very_many_only_the_newest_are_named(store: Store, project: Path) -> None:
    runs = [store.create(NOW + number / 10, workspace=project) for number in range(13)]

    with pytest.raises(UserError, match=rf"matches 13 runs: {runs[-1].id} .*; and 3 more\. Type"):
        store.find(runs[0].id[:3], project)


def test_an_unknown_run_is_answered_with_the_nearest(store: Store, project: Path) -> None:
    run = store.create(NOW, workspace=project)
    typed = run.id[:-1] + ("0" if run.id[-1] != "0" else "1")

    with pytest.raises(UserError, match=rf"no run '{typed}'\. Did you mean '{run.id}'\? `untilgreen list"):
        store.find(typed, project)


@pytest.mark.parametrize("typed", ["", " ", "nothing-like-it", "../runs", "/", "."])
def test_text_that_is_not_an_id_is_an_unknown_run(store: Store, project: Path, typed: str) -> None:
    store.create(NOW, workspace=project)

    with pytest.raises(UserError, match=r"There is no run .* `untilgreen list --all` shows all runs"):
        store.find(typed, project)


def test_the_last_run_is_the_newest_of_this_directory(store: Store, project: Path, tmp_path: Path) -> None:
    store.create(NOW, workspace=project)
    mine = store.create(NOW + 1, workspace=project)
    store.create(NOW + 2, workspace=tmp_path / "elsewhere")

    assert store.find("@last", project) == mine


def test_the_last_run_is_found_from_below_and_from_the_whole_repository(store: Store, project: Path) -> None:
    package = project / "packages" / "web"
    (package / "src").mkdir(parents=True)
    run = store.create(NOW, workspace=package, git_root=project)

    for place in (package, package / "src", project, project / "packages"):
        assert store.find("@last", place) == run


def test_a_run_started_right_here_comes_before_a_newer_neighbor(store: Store, project: Path) -> None:
    for name in ("web", "api"):
        (project / name).mkdir()
    web = store.create(NOW, workspace=project / "web", git_root=project)
    api = store.create(NOW + 1, workspace=project / "api", git_root=project)

    assert store.find("@last", project / "web") == web
    assert store.find("@last", project) == api


def test_without_a_run_there_is_no_last_one(store: Store, project: Path, tmp_path: Path) -> None:
    store.create(NOW, workspace=tmp_path / "elsewhere")

    with pytest.raises(UserError, match=f"No run was started in {project} yet. .*untilgreen list --all"):
        store.find("@last", project)


@posix
def test_a_link_to_a_workspace_is_the_workspace(store: Store, project: Path, tmp_path: Path) -> None:
    run = store.create(NOW, workspace=project)
    link = tmp_path / "link"
    link.symlink_to(project)

    assert store.find("@last", link) == run


def test_runs_of_a_workspace_are_listed_newest_first(store: Store, project: Path, tmp_path: Path) -> None:
    first = store.create(NOW, workspace=project, title="one")
    other = store.create(NOW + 1, workspace=tmp_path / "elsewhere", title="two")
    last = store.create(NOW + 2, workspace=project, title="three")

    assert store.runs(project) == [last, first]
    assert store.runs() == [last, other, first]
    assert [run.meta().title for run in store.runs()] == ["three", "two", "one"]


def test_a_store_that_nobody_used_has_no_runs(store: Store, project: Path) -> None:
    assert store.runs() == []
    assert not store.state_dir.exists(), "reading creates nothing"
    with pytest.raises(UserError, match="There is no run 'abc'"):
        store.find("abc", project)


def test_a_folder_that_is_not_a_run_is_not_listed(store: Store, project: Path) -> None:
    run = store.create(NOW, workspace=project)
    (run.path.parent / "notes").mkdir()
    (run.path.parent / ".hidden").mkdir()
    (run.path.parent / "zzzzzzzzz").mkdir()

    assert store.runs() == [run]


@pytest.mark.parametrize("harm", ["", "{", '{"workspace": 7}'])
def test_whose_run_it_is_can_be_read_from_the_journal(store: Store, project: Path, harm: str) -> None:
    run = store.create(NOW, workspace=project, title="mend the login")
    plan = Plan(task="mend the login\n\nquickly", workspace={"mode": "in-place", "start": str(project)})
    run.journal.write_bytes(encode(RunStarted(at=NOW, run=run.id, plan=plan), End())[0])
    (run.path / "meta.json").write_text(harm)

    assert run.meta() == Meta(workspace=str(project), title="mend the login")
    assert store.find("@last", project) == run


def test_a_run_without_its_meta_file_is_still_listed(store: Store, project: Path) -> None:
    run = store.create(NOW, workspace=project)
    run.journal.write_bytes(encode(RunStarted(at=NOW, run=run.id, plan=Plan(task="t")), End())[0])
    (run.path / "meta.json").unlink()

    assert store.runs() == [run]
    assert run.meta() == Meta(title="t")


@pytest.mark.parametrize("content", [b"", b"garbage\n", b'{"format":"untilgreen-journal/9"}\nx\n'])
def test_a_run_that_names_no_workspace_is_listed_only_among_all_runs(
    store: Store, project: Path, content: bytes
) -> None:
    run = store.create(NOW, workspace=project)
    (run.path / "meta.json").unlink()
    run.journal.write_bytes(content)

    assert run.meta() == Meta()
    assert store.runs(project) == []
    assert store.runs() == [run]


def test_a_state_directory_that_can_not_be_written_is_named(project: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a directory")
    store = Store(tmp_path / "file" / "state")

    with pytest.raises(UserError, match=f"state directory {store.state_dir} can't be used: .*`--state-dir`"):
        store.create(NOW, workspace=project)


def test_a_state_directory_that_can_not_be_read_is_named(project: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / "state")
    store.state_dir.mkdir()
    (store.state_dir / "runs").write_text("not a directory")

    with pytest.raises(UserError, match=f"state directory {store.state_dir} can't be used: .*`--state-dir`"):
        store.find("abc", project)


def test_the_environment_names_the_state_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UNTILGREEN_STATE_DIR", "here")
    assert Store().state_dir == tmp_path / "here"

    monkeypatch.setenv("UNTILGREEN_STATE_DIR", "")
    assert default_state_dir() == user_state_path("untilgreen", appauthor=False)


def test_a_file_of_a_run_that_was_removed_shows_which_run_it_was(store: Store, project: Path) -> None:
    run = store.create(NOW, workspace=project)
    missing = str(run.path / "output" / "missing.txt")
    assert run_ids.pruned_run(missing) is None

    store.forget(run)

    assert run_ids.pruned_run(missing) == run.id
    assert run_ids.pruned_run("missing.txt") is None
    assert run_ids.pruned_run(str(store.state_dir / "runs" / "no-run" / "missing.txt")) is None


def test_a_file_is_put_as_a_whole_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    for text in (b"one", b"two"):
        put(path, text)

    assert path.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_can_not_be_put_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "x.json").mkdir()

    with pytest.raises(OSError, match="directory"):
        put(tmp_path / "x.json", b"one")

    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="folders are synced on POSIX only")
@pytest.mark.parametrize(("number", "there"), [(1, False), (2, True)], ids=["file", "folder"])
def test_a_file_that_a_power_cut_may_lose_is_not_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, there: bool
) -> None:
    """The disk fails to sync the file, or the folder that lists it."""
    real, synced = os.fsync, list[int]()

    def fsync(descriptor: int) -> None:
        synced.append(descriptor)
        if len(synced) == number:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(OSError, match="Input/output error"):
        put(tmp_path / "x.json", b"one")

    assert [path.name for path in tmp_path.iterdir()] == (["x.json"] if there else [])
