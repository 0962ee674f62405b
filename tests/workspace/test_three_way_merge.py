"""Merging trees: both sides' changes, and every way in which they can conflict."""

import os
from pathlib import Path

import pytest

from tests.workspace.helpers import git
from untilgreen.workspace.git_workspace import GitWorkspace
from untilgreen.workspace.three_way_merge import Merging

LINES = "".join(f"{number}\n" for number in range(20))


class Sides:
    """One workspace that holds the files of one side after the other."""

    def __init__(self, repository: Path, private: Path) -> None:
        self.place = repository
        self.workspace = GitWorkspace(repository, "r1", private)
        self.merging = Merging(self.workspace)

    async def tree(self, files: dict[str, str | bytes | None]) -> str:
        """A snapshot of exactly these files."""
        for path in sorted(self.place.rglob("*"), reverse=True):
            if ".git" not in path.relative_to(self.place).parts:
                path.unlink() if path.is_symlink() or path.is_file() else path.rmdir()
        for name, content in files.items():
            path = self.place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if content is None:
                path.symlink_to("elsewhere")
            else:
                path.write_bytes(content.encode() if isinstance(content, str) else content)
        return await self.workspace.snapshot("one")

    def content(self, tree: str, path: str) -> str:
        return git(self.place, "show", f"{tree}:{path}")

    def names(self, tree: str) -> list[str]:
        return git(self.place, "ls-tree", "-r", "--name-only", tree).split()


@pytest.fixture
def sides(repository: Path, private: Path) -> Sides:
    return Sides(repository, private)


async def test_changes_of_both_sides_come_together_also_in_one_file(sides: Sides) -> None:
    base = await sides.tree({"a.txt": LINES, "gone.txt": "x\n", "kept.txt": "k\n"})
    theirs = await sides.tree(
        {"a.txt": LINES.replace("18\n", "eighteen\n"), "kept.txt": "k\n", "new.txt": "n\n"}
    )
    ours = await sides.tree(
        {"a.txt": LINES.replace("2\n", "two\n", 1), "gone.txt": "x\n", "kept.txt": "k\n", "mine.txt": "m\n"}
    )

    merged = await sides.merging.merge(base, ours, theirs, "the run")

    assert merged.conflicts == ()
    assert sides.names(merged.tree) == ["a.txt", "kept.txt", "mine.txt", "new.txt"]
    both = LINES.replace("2\n", "two\n", 1).replace("18\n", "eighteen\n")
    assert sides.content(merged.tree, "a.txt") == both


async def test_the_same_change_on_both_sides_is_not_a_conflict_and_merging_again_changes_nothing(
    sides: Sides,
) -> None:
    base = await sides.tree({"a.txt": LINES, "gone.txt": "x\n"})
    theirs = await sides.tree({"a.txt": LINES + "end\n", "new.txt": "n\n"})

    merged = await sides.merging.merge(base, theirs, theirs, "the run")
    again = await sides.merging.merge(base, merged.tree, theirs, "the run")

    assert (merged.tree, merged.conflicts) == (theirs, ())
    assert again == merged


async def test_the_same_lines_are_a_conflict_with_both_sides_in_it(sides: Sides) -> None:
    base = await sides.tree({"a.txt": "one\ntwo\n", "b.txt": "b\n"})
    theirs = await sides.tree({"a.txt": "one\ntheirs\n", "b.txt": "changed\n"})
    ours = await sides.tree({"a.txt": "one\nmine\n", "b.txt": "b\n"})

    merged = await sides.merging.merge(base, ours, theirs, "the run")

    assert [(each.path, each.why) for each in merged.conflicts] == [
        (b"a.txt", "both of you changed the same lines")
    ]
    marked = "one\n<<<<<<< yours\nmine\n||||||| before the run\ntwo\n=======\ntheirs\n>>>>>>> the run\n"
    assert merged.conflicts[0].text.decode() == marked
    assert sides.content(merged.tree, "a.txt") == marked
    assert sides.content(merged.tree, "b.txt") == "changed\n"


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "why"),
    [
        ({"a": "1\n"}, {"a": "2\n"}, {}, "you changed it, the run deleted it"),
        ({"a": "1\n"}, {}, {"a": "2\n"}, "you deleted it, the run changed it"),
        ({}, {"a": "1\n"}, {"a": "2\n"}, "both of you changed the same lines"),
        ({"a": b"\0"}, {"a": b"\0mine"}, {"a": b"\0theirs"}, "both of you changed it, and it is not text"),
        ({"a": "1\n"}, {"a": None}, {"a": "2\n"}, "it is a link that both of you changed"),
        ({}, {"a": "file\n"}, {"a/b": "below\n"}, "you have 'a', which is in its way"),
        ({}, {"a/b": "below\n"}, {"a": "file\n"}, "you have 'a/b', which is in its way"),
    ],
)
async def test_every_conflict_says_what_it_is_and_leaves_the_users_side(
    sides: Sides,
    base: dict[str, str | bytes | None],
    ours: dict[str, str | bytes | None],
    theirs: dict[str, str | bytes | None],
    why: str,
) -> None:
    more: dict[str, str | bytes | None] = {"other": "x\n"}
    old, new = await sides.tree({**base, **more}), await sides.tree({**theirs, **more})
    mine = await sides.tree({**ours, **more})

    merged = await sides.merging.merge(old, mine, new, "the run")

    assert [each.why for each in merged.conflicts] == [why]
    if "lines" not in why:
        assert merged.tree == mine


async def test_a_file_becomes_a_directory_where_only_the_run_touched_it(sides: Sides) -> None:
    base = await sides.tree({"a": "file\n", "b": "b\n"})
    theirs = await sides.tree({"a/b": "below\n", "b": "b\n"})
    ours = await sides.tree({"a": "file\n", "b": "mine\n"})

    merged = await sides.merging.merge(base, ours, theirs, "the run")

    assert merged.conflicts == ()
    assert sides.names(merged.tree) == ["a/b", "b"]


async def test_names_that_are_not_text_and_modes_are_merged_as_they_are(sides: Sides) -> None:
    odd = os.fsdecode(b"caf\xe9 \n.txt")
    base = await sides.tree({odd: LINES})
    ours = await sides.tree({odd: LINES + "mine\n"})
    await sides.tree({odd: LINES.replace("2\n", "two\n", 1)})
    (sides.place / odd).chmod(0o755)
    theirs = await sides.workspace.snapshot("theirs")

    merged = await sides.merging.merge(base, ours, theirs, "the run")

    assert merged.conflicts == ()
    entry = git(sides.place, "ls-tree", "-z", merged.tree)
    assert entry.startswith("100755 blob ")
    blob = entry.split()[2]
    assert git(sides.place, "cat-file", "blob", blob) == LINES.replace("2\n", "two\n", 1) + "mine\n"


async def test_changes_are_carried_over_and_win_where_both_changed_a_path(sides: Sides) -> None:
    base = await sides.tree({"a": "1\n", "setup.log": "made\n", "gone": "x\n"})
    ours = await sides.tree({"a": "0\n", "gone": "x\n"})
    theirs = await sides.tree({"a": "2\n", "setup.log": "made\n", "new": "n\n"})

    carried = await sides.merging.carry(base, ours, theirs)

    assert sides.names(carried) == ["a", "new"]
    assert sides.content(carried, "a") == "2\n"
