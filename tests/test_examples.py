"""Every folder in examples/ works as its README says."""

import shutil
from pathlib import Path

import pytest

from tests.surfaces.cli.helpers import repository
from tests.test_docs import FENCE, ROOT, run_script

EXAMPLES = sorted(path.parent for path in (ROOT / "examples").glob("*/README.md"))


@pytest.mark.parametrize("example", EXAMPLES, ids=[path.name for path in EXAMPLES])
def test_an_example_works_from_its_first_command_to_its_last(example: Path, tmp_path: Path) -> None:
    place = tmp_path / example.name
    shutil.copytree(example, place)
    repository(place, {})
    scripts = [match[2] for match in FENCE.finditer((example / "README.md").read_text()) if match[1] == "sh"]

    for script in scripts:
        run_script(script, place)

    assert scripts


def test_no_example_is_left_out_of_the_list() -> None:
    listed = (ROOT / "examples" / "README.md").read_text()

    assert [path.name for path in EXAMPLES if f"]({path.name})" not in listed] == []
    assert [path.name for path in (ROOT / "examples").iterdir() if path.is_dir()] != []
