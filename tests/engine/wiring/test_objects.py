"""Each plugin object of a run is made once, and never from a file that the agent can reach."""

from pathlib import Path

import pytest

from untilgreen.core.values.model import GateSpec, PartSpec
from untilgreen.engine.wiring.objects import Objects

CODE = """
class Counted:
    made = 0

    def __init__(self, **options):
        type(self).made += 1

    async def check(self, workspace):
        return None

    def decide(self, state, signals):
        return None
"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(CODE)
    return tmp_path


def test_an_object_is_made_once_however_often_it_is_asked_for(base: Path) -> None:
    objects = Objects(base)
    tests = GateSpec(name="tests", kind="command", options={"run": "pytest"})
    strategy = PartSpec(name="fixed", options={"iterations": 2})

    assert objects.gate(tests).object is objects.gate(tests).object
    assert objects.part("strategy", strategy).object is objects.part("strategy", strategy).object


def test_two_gates_of_one_command_have_two_objects(base: Path) -> None:
    objects = Objects(base)
    one, two = (GateSpec(name=name, kind="command", options={"run": "true"}) for name in ("one", "two"))

    assert objects.gate(one).object is not objects.gate(two).object


def test_other_options_make_another_object(base: Path) -> None:
    objects = Objects(base)
    here = GateSpec(name="tests", kind="command", options={"run": "pytest"})
    there = GateSpec(name="tests", kind="command", options={"run": "pytest", "cwd": "copy"})

    assert objects.gate(here).object is not objects.gate(there).object
    assert objects.gate(there).object.cwd == "copy"


def test_a_plugin_that_is_not_copied_stays_the_same_object(base: Path) -> None:
    objects = Objects(base)
    strategy = PartSpec(name="fixed", options={"iterations": 2})
    first = objects.part("strategy", strategy).object

    assert objects.from_copies({}).part("strategy", strategy).object is first


def test_a_file_of_the_workspace_is_loaded_again_from_the_copy_of_the_run(base: Path) -> None:
    name, copy = "./mine.py:Counted", base / "copy.py"
    copy.write_text(CODE.replace("made = 0", "made = 100"))
    objects, gate = Objects(base), GateSpec(name="mine", kind=name)
    assert objects.gate(gate).object.made == 1

    kept = objects.from_copies({name: copy})

    assert kept.gate(gate).object.made == 101
    assert kept.gate(gate).object.made == 101


def test_a_judge_is_made_again_where_its_agent_may_come_from_a_copy(base: Path) -> None:
    name, copy = "./mine.py:Counted", base / "copy.py"
    copy.write_text(CODE.replace("check(self, workspace", "work(self, brief, context"))
    (base / "mine.py").write_text(CODE.replace("check(self, workspace", "work(self, brief, context"))
    judge = GateSpec(name="review", kind="judge", options={"agent": name, "instructions": "Is it good?"})
    objects = Objects(base)
    first = objects.gate(judge).object

    assert objects.from_copies({name: copy}).gate(judge).object is not first
