"""From a spec to a plan that any machine can make the objects of a run from."""

import shutil
from pathlib import Path
from textwrap import dedent
from typing import Any

import msgspec
import pytest

from untilgreen.agents.command import CommandAgent
from untilgreen.config.load import Loaded, Request, load
from untilgreen.config.schema import SpecFile
from untilgreen.core.defaults import DETECTORS
from untilgreen.core.detectors.similar import Similar
from untilgreen.core.model import GateSpec, PartSpec, Plan, Promise
from untilgreen.core.remedies import RUNGS
from untilgreen.core.strategies.fixed import Fixed
from untilgreen.core.strategies.hybrid import Hybrid
from untilgreen.engine import wiring
from untilgreen.errors import ConfigError, JournalError, UnknownPlugin, UserError
from untilgreen.gates.command import CommandGate

SMALLEST = """\
task = "Make it green"
agent = "cmd:./fix.sh"
[gates.tests]
run = "true"
"""

PLUGINS = """
    from untilgreen import Continue, Reply, Verdict

    WHO = "the first"


    class Rule:
        def __init__(self, patience: int = 3):
            self.patience = patience

        def decide(self, state, signals):
            return Continue(reason=WHO)


    class Eye:
        def detect(self, state):
            return None


    class Worker:
        async def work(self, brief, desk):
            return Reply(text=WHO)


    class Check:
        def __init__(self, word: str = "TODO"):
            self.word, self.who = word, WHO

        async def check(self, workspace):
            return Verdict(status="pass")


    class Told:
        async def notify(self, event, state):
            return None
"""

FROM_FILE = """\
task = "Make it green"
strategy = { use = "./parts/plugins.py:Rule", patience = 5 }
detectors = ["./parts/plugins.py:Eye"]
agents = ["./parts/plugins.py:Worker"]
notify = ["./parts/plugins.py:Told"]
gates.todos = { use = "./parts/plugins.py:Check", word = "FIXME" }
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    (folder / "parts").mkdir()
    (folder / "parts" / "plugins.py").write_text(dedent(PLUGINS))
    return folder


def loaded(project: Path, text: str, **asked: Any) -> Loaded:
    (project / "untilgreen.toml").write_text(text)
    return load(Request(start=project, **asked))


def plan_of(project: Path, text: str = SMALLEST, **asked: Any) -> Plan:
    return wiring.plan_of(loaded(project, text, **asked), project)


def test_a_small_spec_becomes_a_plan_with_all_defaults(project: Path) -> None:
    assert plan_of(project) == Plan(
        task="Make it green",
        gates=(
            GateSpec(name="tests", options={"run": "true"}, shown_as="true", origin="built-in"),
            GateSpec(
                name="integrity",
                kind="integrity",
                options={"protect": [], "allow": []},
                stage=2,
                on_fail="ask",
                timeout=1920.0,
            ),
        ),
        agents=(
            PartSpec(name="cmd:./fix.sh", use="command", origin="built-in", options={"command": "./fix.sh"}),
        ),
        strategy=PartSpec(name="hybrid", origin="built-in"),
        detectors=tuple(PartSpec(name=name, origin="built-in") for name in DETECTORS),
        remedies=RUNGS,
        workspace={"mode": "in-place", "base": str(project), "start": str(project)},
    )


HONOURED: dict[str, tuple[str, Any]] = {
    "task": ("'Other'", lambda plan: plan.task == "Other"),
    "task_file": ("'PROMPT.md'", lambda plan: plan.task == "From a file"),
    "agent": ("'cmd:other'", lambda plan: plan.agent_names() == ("cmd:other",)),
    "agents": ("['cmd:a', 'cmd:b']", lambda plan: plan.agent_names() == ("cmd:a", "cmd:b")),
    "strategy": (
        "{ use = 'fixed', iterations = 7 }",
        lambda plan: wiring.policy_of(plan, {}).strategy == Fixed(iterations=7),
    ),
    "detectors": ("['similar']", lambda plan: wiring.policy_of(plan, {}).detectors == (Similar(),)),
    "remedies": ("['ask']", lambda plan: plan.remedies == ("ask",)),
    "session": ("'continue'", lambda plan: plan.session == "continue"),
    "workspace": ("{ mode = 'in-place' }", lambda plan: plan.workspace["mode"] == "in-place"),
    "sandbox": ("'bwrap'", lambda plan: plan.sandbox.mode == "bwrap"),
    "permissions": ("'all'", lambda plan: plan.permissions == "all"),
    "leave": ("'last'", lambda plan: plan.leave == "last"),
    "on_interrupt": ("'rewind'", lambda plan: plan.on_interrupt == "rewind"),
    "promise": ("'YES'", lambda plan: plan.promise == Promise(text="YES")),
    "baseline": ("false", lambda plan: plan.baseline is False),
    "notify": ("['./parts/plugins.py:Told']", lambda plan: len(wiring.notifiers_of(plan, {})) == 1),
    "labels": ("{ order = '17' }", lambda plan: plan.labels == {"order": "17"}),
    "limits": ("{ cost = '$5' }", lambda plan: plan.limits.cost == 5.0),
    "gates": (
        "{ lint = { run = 'make lint' } }",
        lambda plan: [gate.name for gate in plan.gates] == ["lint", "integrity"],
    ),
    "integrity": (
        "{ protect = ['golden/**'], allow = ['tests/new.py'] }",
        lambda plan: plan.gate("integrity").options == {"protect": ["golden/**"], "allow": ["tests/new.py"]},
    ),
}


def test_the_test_below_knows_every_key() -> None:
    assert set(HONOURED) == set(SpecFile.__struct_fields__)


@pytest.mark.parametrize("key", sorted(HONOURED))
def test_every_key_of_the_spec_changes_the_plan(project: Path, key: str) -> None:
    (project / "PROMPT.md").write_text("From a file\n")
    written, honoured = HONOURED[key]
    instead = {"task_file": "task", "agents": "agent"}.get(key, key)
    rest = {"task": "'Make it green'", "agent": "'cmd:./fix.sh'", "gates": "{ tests = { run = 'true' } }"}
    rest.pop(instead, None)
    text = "".join(f"{name} = {value}\n" for name, value in {**rest, key: written}.items())

    assert honoured(plan_of(project, text))
    if key != "workspace":
        assert not honoured(plan_of(project))


@pytest.mark.parametrize(
    ("key", "written"),
    [
        ("required", False),
        ("stage", 3),
        ("on_fail", "stop"),
        ("when", "changed"),
        ("timeout", 90.0),
        ("retries", 2),
        ("max_attempts", 4),
    ],
)
def test_every_rule_of_a_gate_is_in_the_plan(project: Path, key: str, written: Any) -> None:
    flags = {"gates": {"tests": {key: written}}, "promise": "DONE"}

    assert getattr(plan_of(project, flags=flags).gate("tests"), key) == written


def test_every_option_of_a_command_reaches_the_gate(project: Path) -> None:
    text = SMALLEST + "report = 'junit.xml'\nexpect = 3\nenv = { CI = '1' }\ncwd = 'web'\n"

    gates = wiring.gates_of(plan_of(project, text), {})

    assert gates == {"tests": CommandGate("true", report="junit.xml", expect=3, env={"CI": "1"}, cwd="web")}


def test_a_promise_is_one_more_gate_without_an_object(project: Path) -> None:
    plan = plan_of(project, "promise = 'DONE'\n" + SMALLEST + "stage = 4\n")

    assert [(gate.name, gate.stage, gate.required) for gate in plan.gates] == [
        ("tests", 4, True),
        ("integrity", 5, True),
        ("claim", 6, True),
    ]
    assert list(wiring.gates_of(plan, {})) == ["tests"]


def test_ralph_brings_a_promise_and_tunes_the_detector(project: Path) -> None:
    text = "strategy = { use = 'ralph', min = 2, tokens = true, window = 4, similarity = 0.8 }\n" + SMALLEST

    plan = plan_of(project, text)

    assert plan.promise == Promise(text="DONE", min=2, tokens=True)
    assert Similar(similarity=0.8, window=4) in wiring.policy_of(plan, {}).detectors


def test_the_flag_for_laps_bounds_the_strategy_that_is_made(project: Path) -> None:
    plan = plan_of(project, max_iterations="5")

    assert wiring.policy_of(plan, {}).strategy == Hybrid(base=5, bonus=0)
    assert plan.limits.iterations == 5


def test_the_same_agent_twice_is_made_twice(project: Path) -> None:
    text = "task = 'x'\nagents = ['cmd:a', 'cmd:a']\ngates.tests.run = 'true'\n"

    agents = wiring.agents_of(plan_of(project, text), {})

    assert agents == {"cmd:a": CommandAgent("a"), "cmd:a#2": CommandAgent("a")}


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("strategy = 'hybird'", UnknownPlugin, "No strategy named 'hybird'. Did you mean 'hybrid'?"),
        ("strategy = 'cmd:x'", UserError, "cmd:x"),
        ("strategy = { use = 'fixed', iteration = 3 }", ConfigError, "Did you mean 'iterations'?"),
        ("strategy = { use = 'fixed', iterations = 0 }", ConfigError, "iterations = 0 must be at least 1"),
        ("strategy = { base = '3' }", ConfigError, "'base'"),
        ("detectors = ['cycel']", UnknownPlugin, "No detector named 'cycel'. Did you mean 'cycle'?"),
        ("notify = ['nobody-offers-this']", UnknownPlugin, "No notifier named 'nobody-offers-this'."),
        ("agent = 'nobody-offers-this'", UnknownPlugin, "No agent named 'nobody-offers-this'."),
        ("agent = 'cmd:'", ConfigError, "The agent command is empty."),
        ("gates.a.use = 'nobody-offers-this'", UnknownPlugin, "No gate named 'nobody-offers-this'."),
        ("gates.a = { use = './parts/plugins.py:Check', wrd = 'x' }", ConfigError, "Did you mean 'word'?"),
        ("gates.a.use = './parts/plugins.py:Chek'", UnknownPlugin, "Did you mean 'Check'?"),
        ("gates.a.use = './parts/plugin.py:Check'", UnknownPlugin, "Did you mean 'plugins.py'?"),
        ("gates.a = { run = 'x', report = 'report.txt' }", ConfigError, "'report.txt' is in no known format"),
    ],
)
def test_a_name_or_an_option_that_is_wrong_is_said_before_anything_starts(
    project: Path, text: str, kind: type[UserError], said: str
) -> None:
    rest = {"task": "'x'", "agent": "'cmd:x'", "gates.tests.run": "'true'"}
    lines = [f"{key} = {value}" for key, value in rest.items() if not text.startswith(f"{key} ")]

    with pytest.raises(kind) as caught:
        plan_of(project, "\n".join([*lines, text]))
    assert said in str(caught.value)


def test_without_an_agent_the_way_to_name_one_is_said(project: Path) -> None:
    with pytest.raises(ConfigError, match=r"^There is no agent\. Name one with --agent"):
        plan_of(project, "task = 'x'\ngates.tests.run = 'true'\n")


def test_without_a_gate_and_a_promise_nothing_could_end_the_run(project: Path) -> None:
    with pytest.raises(ConfigError, match=r"^There is no gate and no promise"):
        plan_of(project, "task = 'x'\nagent = 'cmd:x'\n")


def test_plugins_of_the_spec_are_found_beside_it_from_wherever_the_run_starts(
    project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (project / "src").mkdir()
    (project / "untilgreen.toml").write_text(FROM_FILE)
    monkeypatch.chdir(tmp_path)

    plan = wiring.plan_of(load(Request(start=project / "src")), project / "src")

    assert plan.strategy.origin == str(project / "parts" / "plugins.py")
    assert wiring.base_of(plan) == project
    assert plan.workspace[wiring.START] == str(project / "src")


def test_a_spec_that_was_named_from_elsewhere_keeps_its_place(
    project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (project / "untilgreen.toml").write_text(FROM_FILE)
    monkeypatch.chdir(project)
    plan = wiring.plan_of(load(Request(start=tmp_path, config=Path("untilgreen.toml"))), tmp_path)
    monkeypatch.chdir(tmp_path)

    assert list(wiring.gates_of(plan, {})) == ["todos"]


def test_a_plan_survives_the_journal_with_all_that_is_made_from_it(project: Path) -> None:
    plan = plan_of(project, FROM_FILE)

    again = msgspec.json.decode(msgspec.json.encode(plan), type=Plan)

    assert again == plan
    assert type(wiring.policy_of(again, {}).strategy).__name__ == "Rule"
    assert wiring.policy_of(again, {}).strategy.patience == 5  # type: ignore[attr-defined]
    assert [type(each).__name__ for each in wiring.notifiers_of(again, {})] == ["Told"]
    assert [type(each).__name__ for each in wiring.agents_of(again, {}).values()] == ["Worker"]


def test_a_run_goes_on_with_the_code_it_began_with(project: Path, tmp_path: Path) -> None:
    plan = plan_of(project, FROM_FILE)
    wiring.copy_code(plan, tmp_path / "code")
    (project / "parts" / "plugins.py").write_text(dedent(PLUGINS).replace("the first", "an impostor"))

    copied = wiring.gates_of(plan, wiring.copies_in(plan, tmp_path / "code"))["todos"]
    present = wiring.gates_of(plan, {})["todos"]

    assert (copied.who, copied.word) == ("the first", "FIXME")  # type: ignore[attr-defined]
    assert present.who == "an impostor"  # type: ignore[attr-defined]


def test_a_run_goes_on_when_the_original_is_gone(project: Path, tmp_path: Path) -> None:
    plan = plan_of(project, FROM_FILE)
    wiring.copy_code(plan, tmp_path / "code")
    shutil.rmtree(project / "parts")

    copies = wiring.copies_in(plan, tmp_path / "code")

    assert list(wiring.gates_of(plan, copies)) == ["todos"]
    assert list(wiring.agents_of(plan, copies)) == ["./parts/plugins.py:Worker"]
    assert len(wiring.policy_of(plan, copies).detectors) == len(wiring.notifiers_of(plan, copies)) == 1


def test_a_run_does_not_fall_back_to_code_that_an_agent_can_reach(project: Path, tmp_path: Path) -> None:
    plan = plan_of(project, FROM_FILE)
    wiring.copy_code(plan, tmp_path / "code")
    for copy in (tmp_path / "code").iterdir():
        copy.unlink()

    with pytest.raises(JournalError, match="can't go on as it began"):
        wiring.copies_in(plan, tmp_path / "code")


@pytest.mark.parametrize("written", ["'./parts/plugins.py:Worker'", "{ use = './parts/plugins.py:Worker' }"])
def test_a_judge_gets_its_agent_and_keeps_its_code(project: Path, tmp_path: Path, written: str) -> None:
    plan = plan_of(project, SMALLEST + f"[gates.review]\nkind = 'judge'\nagent = {written}\n")
    wiring.copy_code(plan, tmp_path / "code")
    shutil.rmtree(project / "parts")

    judge = wiring.gates_of(plan, wiring.copies_in(plan, tmp_path / "code"))["review"]

    assert type(judge.agent).__name__ == "Worker"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("'cmd:'", "The agent command is empty."),
        ("5", "gates.review.agent names no plugin."),
        ("'nobody-offers-this'", "No agent named 'nobody-offers-this'."),
    ],
)
def test_a_judge_without_a_usable_agent_is_said_before_anything_starts(
    project: Path, written: str, said: str
) -> None:
    with pytest.raises(UserError) as caught:
        plan_of(project, SMALLEST + f"[gates.review]\nkind = 'judge'\nagent = {written}\n")
    assert said in str(caught.value)


def test_files_of_one_name_from_two_places_are_kept_apart(project: Path, tmp_path: Path) -> None:
    (project / "more").mkdir()
    (project / "more" / "plugins.py").write_text(dedent(PLUGINS).replace("the first", "the second"))
    text = FROM_FILE + "gates.more = { use = './more/plugins.py:Check' }\n"
    plan = plan_of(project, text)
    wiring.copy_code(plan, tmp_path / "code")

    gates = wiring.gates_of(plan, wiring.copies_in(plan, tmp_path / "code"))

    assert [gate.who for gate in gates.values()] == ["the first", "the second"]  # type: ignore[attr-defined]


def test_a_plan_of_built_in_parts_has_no_code_to_copy(project: Path, tmp_path: Path) -> None:
    plan = plan_of(project)
    wiring.copy_code(plan, tmp_path / "code")

    assert not (tmp_path / "code").exists()
    assert wiring.copies_in(plan, tmp_path / "code") == {}
