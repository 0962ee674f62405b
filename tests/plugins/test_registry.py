"""The plugin registry: every way to name a plugin, and a sentence for every way to get it wrong."""

import importlib
import inspect
import json
import os
import py_compile
import subprocess
import sys
from importlib.util import cache_from_source, find_spec
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from untilgreen.core.detectors.cycle import Cycle
from untilgreen.core.strategies.fixed import Fixed
from untilgreen.core.strategies.hybrid import Hybrid
from untilgreen.core.values.decision import Continue
from untilgreen.core.values.model import Outcome, PartSpec, Plan
from untilgreen.engine.wiring.objects import objects_of, policy_of
from untilgreen.errors import ConfigError, UnknownPlugin, UserError
from untilgreen.plugins.kinds import BUILT_IN, CONTRACTS
from untilgreen.plugins.registry import Kind, PluginInfo, Plugins, registry, source_of
from untilgreen.testing import story

ROOT = Path(__file__).parents[2]
PACKAGES = Path(__file__).parents[1] / "plugin_package"

RULES = """
    from __future__ import annotations

    from dataclasses import dataclass
    from pathlib import Path

    import msgspec

    from untilgreen import Continue, Finish, Outcome


    @dataclass(frozen=True)
    class Patient:
        '''Goes on for some laps.'''

        patience: int = 4
        words: tuple[str, ...] = ()
        notes: Path = Path("notes")

        def decide(self, state, signals):
            if len(state.laps) < self.patience:
                return Continue(reason="not yet")
            return Finish(outcome=Outcome.STUCK, reason="patience is gone")


    class Careful(msgspec.Struct, frozen=True, kw_only=True):
        laps: int

        def __post_init__(self):
            if self.laps < 1:
                raise ValueError("laps must be at least 1.")

        def decide(self, state, signals):
            return Continue(reason="careful")


    def make_patient(**options):
        return Patient(**options)
"""


@pytest.fixture
def plugins() -> Plugins:
    return Plugins()


@pytest.fixture
def base(tmp_path: Path) -> Path:
    write(tmp_path / "rules.py", RULES)
    return tmp_path


def write(path: Path, source: str) -> Path:
    path.write_text(dedent(source).lstrip())
    return path


def finding(
    plugins: Plugins, name: str, options: dict[str, Any] | None = None, *, base: Path | None = None
) -> str:
    """The registry's error about a strategy that it can't create."""
    with pytest.raises(UserError) as caught:
        plugins.create("strategy", name, options, base=base)
    return str(caught.value)


# Short names


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, names in BUILT_IN.items() for name in names]
)
def test_a_built_in_is_a_plugin_that_happens_to_ship(plugins: Plugins, kind: Kind, name: str) -> None:
    module, _, attribute = BUILT_IN[kind][name].partition(":")
    row = next(row for row in plugins.list(kind) if row.name == name)

    assert callable(getattr(importlib.import_module(module), attribute))
    assert (row.origin, row.problem) == ("built-in", "")
    assert row.summary.endswith(".")


@pytest.mark.parametrize("kind", ["strategy", "detector"])
def test_every_built_in_rule_can_be_made_without_options(plugins: Plugins, kind: Kind) -> None:
    made = {name: plugins.create(kind, name).spec for name in BUILT_IN[kind]}

    assert made == {name: PartSpec(name=name, origin="built-in") for name in BUILT_IN[kind]}


@pytest.mark.parametrize(("kind", "option"), [("gate", "run"), ("agent", "command")])
def test_a_command_plugin_needs_its_command(plugins: Plugins, kind: Kind, option: str) -> None:
    with pytest.raises(ConfigError) as caught:
        plugins.create(kind, "command")
    created = plugins.create(kind, "command", {option: "./fix.sh"})

    assert str(caught.value) == f"The {kind} 'command' needs the option {option!r}. Add it to the spec."
    assert getattr(created.object, option) == "./fix.sh"
    assert created.spec == PartSpec(name="command", origin="built-in", options={option: "./fix.sh"})


def test_options_are_the_keywords_of_the_constructor(plugins: Plugins) -> None:
    created = plugins.create("strategy", "hybrid", {"base": 3, "min_gain": 1})

    assert created.object == Hybrid(base=3, min_gain=1.0)
    assert created.spec == PartSpec(name="hybrid", origin="built-in", options={"base": 3, "min_gain": 1})


def test_a_typo_in_a_name_is_answered_with_the_nearest_one(plugins: Plugins) -> None:
    with pytest.raises(UnknownPlugin) as caught:
        plugins.create("strategy", "hybird")

    assert str(caught.value) == "No strategy named 'hybird'. Did you mean 'hybrid'?"


def test_a_name_like_no_other_is_answered_with_all_known_names(plugins: Plugins) -> None:
    with pytest.raises(UnknownPlugin) as caught:
        plugins.create("detector", "xyzzy")

    assert str(caught.value) == (
        "No detector named 'xyzzy'. Known: claims, cycle, errors, noop, similar, stall."
    )


@pytest.mark.parametrize("name", ["", "hybrid:", "cmd:./fix.sh", "webhook:https://example.org/x", "a:b:c"])
def test_a_name_that_is_not_a_place_is_an_unknown_name(plugins: Plugins, name: str) -> None:
    assert finding(plugins, name).startswith(f"No strategy named {name!r}. ")
    assert not plugins.has("strategy", name)


def test_a_kind_that_does_not_exist_is_answered_with_the_nearest_one(plugins: Plugins) -> None:
    kind: Any = "stratgey"
    with pytest.raises(ConfigError) as caught:
        plugins.list(kind)

    assert str(caught.value) == "There is no kind of plugin called 'stratgey'. Did you mean 'strategy'?"


# Files


def test_a_file_is_found_from_the_directory_of_the_spec(plugins: Plugins, base: Path) -> None:
    created = plugins.create("strategy", "./rules.py:Patient", {"patience": 2}, base=base)

    assert story("a b c", created.object).reason == "patience is gone"
    assert created.spec == PartSpec(
        name="./rules.py:Patient", origin=str(base.resolve() / "rules.py"), options={"patience": 2}
    )


@pytest.mark.parametrize(
    "name", ["rules.py:Patient", "../{folder}/rules.py:Patient", "{base}/rules.py:Patient"]
)
def test_a_file_may_be_written_without_dots_with_more_or_absolute(
    plugins: Plugins, base: Path, name: str
) -> None:
    written = name.format(base=base, folder=base.name)

    assert plugins.create("strategy", written, base=base).spec.origin == str(base.resolve() / "rules.py")


def test_without_a_spec_a_file_is_found_from_the_current_directory(
    plugins: Plugins, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(base)

    assert plugins.create("strategy", "./rules.py:Patient").spec.origin == str(base.resolve() / "rules.py")


def test_a_factory_function_is_as_good_as_a_class(plugins: Plugins, base: Path) -> None:
    created = plugins.create("strategy", "./rules.py:make_patient", {"patience": 7}, base=base)

    assert created.object.patience == 7


def test_loading_a_file_leaves_no_trace_in_the_workspace_or_on_the_path(plugins: Plugins, base: Path) -> None:
    before = list(sys.path)
    plugins.create("strategy", "./rules.py:Patient", base=base)

    assert [path.name for path in base.iterdir()] == ["rules.py"]
    assert sys.path == before
    assert "rules" not in sys.modules


def test_an_edit_within_the_same_second_and_of_the_same_size_is_seen(plugins: Plugins, base: Path) -> None:
    rules = base / "rules.py"
    first = plugins.create("strategy", "./rules.py:Patient", base=base).object
    times = rules.stat()
    rules.write_text(rules.read_text().replace("patience: int = 4", "patience: int = 9"))
    os.utime(rules, ns=(times.st_atime_ns, times.st_mtime_ns))
    second = plugins.create("strategy", "./rules.py:Patient", base=base).object

    assert (first.patience, second.patience) == (4, 9)


def test_bytecode_next_to_a_file_is_never_run(plugins: Plugins, base: Path) -> None:
    rules = base / "rules.py"
    honest, times = rules.read_text(), rules.stat()
    rules.write_text(honest.replace("patience: int = 4", "patience: int = 9"))
    os.utime(rules, ns=(times.st_atime_ns, times.st_mtime_ns))
    py_compile.compile(str(rules), doraise=True)
    rules.write_text(honest)
    os.utime(rules, ns=(times.st_atime_ns, times.st_mtime_ns))

    assert Path(cache_from_source(str(rules))).exists()
    assert plugins.create("strategy", "./rules.py:Patient", base=base).object.patience == 4


def test_a_file_is_read_as_plain_python_without_our_future_imports(plugins: Plugins, tmp_path: Path) -> None:
    write(tmp_path / "rules.py", "class Patient:\n    laps: int\n    def decide(self, state, signals): ...\n")
    made = plugins.create("strategy", "./rules.py:Patient", base=tmp_path).object

    assert type(made).__annotations__ == {"laps": int}


def test_two_plugins_from_one_file_share_its_module(plugins: Plugins, base: Path) -> None:
    first = plugins.create("strategy", "./rules.py:Patient", base=base).object
    second = plugins.create("strategy", "./rules.py:make_patient", base=base).object

    assert type(first) is type(second)


def test_two_files_of_one_name_do_not_disturb_each_other(plugins: Plugins, base: Path) -> None:
    other = base / "other"
    other.mkdir()
    write(other / "rules.py", RULES)
    one = plugins.create("strategy", "./rules.py:Patient", base=base).object
    two = plugins.create("strategy", "./rules.py:Patient", base=other).object

    assert type(one) is not type(two)
    assert type(one).__module__ != type(two).__module__


def test_a_run_loads_its_own_copy_and_remembers_the_original(plugins: Plugins, base: Path) -> None:
    source = source_of("./rules.py:Patient", base)
    assert source is not None
    copy = base / "run" / "1.py"
    copy.parent.mkdir()
    copy.write_bytes(source.read_bytes())
    source.write_text("class Patient: pass\n")

    created = plugins.create("strategy", "./rules.py:Patient", base=base, copies={"./rules.py:Patient": copy})

    assert isinstance(created.object.decide(story("a", Fixed(iterations=1)), ()), Continue)
    assert created.spec == PartSpec(name="./rules.py:Patient", origin=str(source))


def test_a_copy_can_be_used_after_the_original_is_gone(plugins: Plugins, base: Path) -> None:
    copy = base / "copied.py"
    (base / "rules.py").rename(copy)

    created = plugins.create("strategy", "./rules.py:Patient", base=base, copies={"./rules.py:Patient": copy})

    assert created.object.patience == 4


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("./rules.py:Patient", "/spec/rules.py"),
        ("rules.py:Patient", "/spec/rules.py"),
        ("./rules.py", "/spec/rules.py"),
        ("../rules.py:Patient", "/rules.py"),
        ("/elsewhere/rules.py:Patient", "/elsewhere/rules.py"),
        ("hybrid", None),
        ("acme.rules:Patient", None),
        ("cmd:./fix.py", None),
        ("command:notify-send done", None),
    ],
)
def test_only_a_file_has_a_source_that_must_be_copied(name: str, source: str | None) -> None:
    assert source_of(name, Path("/spec")) == (Path(source) if source else None)


def test_a_file_in_the_home_directory_is_found(monkeypatch: pytest.MonkeyPatch, base: Path) -> None:
    monkeypatch.setenv("HOME", str(base))

    assert source_of("~/rules.py:Patient", Path("/spec")) == base.resolve() / "rules.py"


# Files that are wrong


def test_a_missing_file_is_named_with_the_nearest_one(plugins: Plugins, base: Path) -> None:
    with pytest.raises(UnknownPlugin) as caught:
        plugins.create("strategy", "./rule.py:Patient", base=base)

    assert str(caught.value) == (
        f"The strategy './rule.py:Patient' names the file '{base.resolve()}/rule.py', "
        "which does not exist. Did you mean 'rules.py'?"
    )


def test_a_missing_file_in_an_empty_directory_says_where_paths_start(
    plugins: Plugins, tmp_path: Path
) -> None:
    assert finding(plugins, "./rules.py:Patient", base=tmp_path) == (
        f"The strategy './rules.py:Patient' names the file '{tmp_path.resolve()}/rules.py', "
        "which does not exist. Write it absolute, or relative to the spec."
    )


def test_a_path_without_its_ending_is_a_missing_file(plugins: Plugins, base: Path) -> None:
    assert finding(plugins, "./rules:Patient", base=base).endswith("Did you mean 'rules.py'?")


def test_a_file_that_can_not_be_read_is_an_error(plugins: Plugins, base: Path) -> None:
    message = finding(plugins, f"./{'x' * 300}.py:Patient", base=base)

    assert "can't be read: [Errno" in message
    assert message.endswith(". Make the file readable.")


@pytest.mark.parametrize(
    ("source", "line", "said"),
    [
        ("x = 1\ndef oops(:\n    pass\n", 2, "SyntaxError: invalid syntax"),
        ("x = 1\n\nx / 0\n", 3, "ZeroDivisionError: division by zero"),
        ("def f():\n    raise ValueError('no.')\n\nf()\n", 2, "ValueError: no"),
        ("import json\njson.loads('{')\n", 2, "JSONDecodeError: Expecting property name enclosed"),
        ("raise SystemExit\n", 1, "SystemExit"),
    ],
)
def test_a_file_that_fails_is_named_with_its_line_and_its_error(
    plugins: Plugins, tmp_path: Path, source: str, line: int, said: str
) -> None:
    write(tmp_path / "rules.py", f"{source}\nclass Patient: ...\n")
    before = set(sys.modules)
    message = finding(plugins, "./rules.py:Patient", base=tmp_path)

    assert message.startswith(
        "The strategy './rules.py:Patient' can't be loaded: "
        f"{tmp_path.resolve()}/rules.py, line {line}: {said}"
    )
    assert message.endswith(". Correct that, and try again.")
    assert {name for name in set(sys.modules) - before if name.startswith("_untilgreen")} == set()


def test_a_file_that_was_corrected_can_be_loaded(plugins: Plugins, tmp_path: Path) -> None:
    write(tmp_path / "rules.py", "1 / 0")
    finding(plugins, "./rules.py:Patient", base=tmp_path)
    write(tmp_path / "rules.py", RULES)

    assert plugins.create("strategy", "./rules.py:Patient", base=tmp_path).object.patience == 4


@pytest.mark.parametrize("source", ["import helpers", "from . import helpers"])
def test_a_file_that_needs_its_neighbor_gets_the_hint_that_it_is_loaded_alone(
    plugins: Plugins, tmp_path: Path, source: str
) -> None:
    write(tmp_path / "rules.py", f"{source}\nclass Patient: ...\n")
    write(tmp_path / "helpers.py", "")

    assert finding(plugins, "./rules.py:Patient", base=tmp_path).endswith(
        "A plugin file is loaded alone: put everything it needs into it, or install that as a package."
    )


def test_a_missing_class_is_answered_with_those_that_are_there(plugins: Plugins, base: Path) -> None:
    with pytest.raises(UnknownPlugin) as caught:
        plugins.create("strategy", "./rules.py:Patent", base=base)

    assert str(caught.value) == (
        "The strategy './rules.py:Patent' can't be found: "
        f"there is no 'Patent' in '{base.resolve()}/rules.py'. "
        "It has Careful, Patient, make_patient. Did you mean 'Patient'?"
    )


def test_a_file_without_any_class_says_so(plugins: Plugins, tmp_path: Path) -> None:
    write(tmp_path / "rules.py", "from pathlib import Path\n\nclass _Hidden: pass\n")

    assert finding(plugins, "./rules.py:Patient", base=tmp_path).endswith("It has no public class.")


def test_a_file_alone_is_not_enough(plugins: Plugins, base: Path) -> None:
    assert finding(plugins, "./rules.py", base=base) == (
        f"The strategy './rules.py' names '{base.resolve()}/rules.py', but no class in it. "
        "It has Careful, Patient, make_patient. Add ':' and its name."
    )


def test_a_value_that_makes_nothing_is_refused(plugins: Plugins, tmp_path: Path) -> None:
    write(tmp_path / "rules.py", "class Patient: pass\n\npatient = Patient()\n")

    assert finding(plugins, "./rules.py:patient", base=tmp_path) == (
        "The strategy './rules.py:patient' is a value of type 'Patient', "
        "not a class or a function that makes one. It has Patient. Name one of them."
    )


# Modules


def test_a_dotted_path_names_a_class_in_a_module(plugins: Plugins) -> None:
    created = plugins.create("detector", "untilgreen.core.detectors.cycle:Cycle", {"repeats": 4})

    assert created.object == Cycle(repeats=4)
    assert created.spec == PartSpec(
        name="untilgreen.core.detectors.cycle:Cycle",
        origin="module untilgreen.core.detectors.cycle",
        options={"repeats": 4},
    )


def test_a_missing_module_is_named(plugins: Plugins) -> None:
    with pytest.raises(UnknownPlugin) as caught:
        plugins.create("strategy", "acme_nowhere.rules:Patient")

    assert str(caught.value) == (
        "The strategy 'acme_nowhere.rules:Patient' needs the module 'acme_nowhere.rules', "
        "but there is no module 'acme_nowhere'. "
        "Install its package, or name a file, for example './rules.py:Patient'."
    )


def test_a_module_that_misses_another_one_is_broken_and_not_missing(
    plugins: Plugins, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "acme_incomplete.py", "x = 1\nimport acme_absent\n")
    monkeypatch.syspath_prepend(tmp_path)

    assert finding(plugins, "acme_incomplete:Patient") == (
        f"The strategy 'acme_incomplete:Patient' can't be loaded: {tmp_path}/acme_incomplete.py, line 2: "
        "ModuleNotFoundError: No module named 'acme_absent'. Correct that, and try again."
    )


def test_a_missing_class_in_a_module_is_answered_with_those_that_are_there(plugins: Plugins) -> None:
    assert finding(plugins, "untilgreen.core.strategies.fixed:Fxied") == (
        "The strategy 'untilgreen.core.strategies.fixed:Fxied' can't be found: "
        "there is no 'Fxied' in 'untilgreen.core.strategies.fixed'. "
        "It has Fixed. Did you mean 'Fixed'?"
    )


# Options


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        (
            "fixed",
            {"iteratoins": 3},
            "The strategy 'fixed' has no option 'iteratoins'. Did you mean 'iterations'?",
        ),
        ("manual", {"loud": True}, "The strategy 'manual' has no option 'loud'. Known: none."),
        (
            "fixed",
            {"iterations": "x"},
            "The strategy 'fixed': the option 'iterations' must be "
            '"unlimited" or a whole number, at least 1.',
        ),
        (
            "fixed",
            {"iterations": True},
            "The strategy 'fixed': the option 'iterations' must be "
            '"unlimited" or a whole number, at least 1.',
        ),
        (
            "./rules.py:Patient",
            {"patience": 1.5},
            "The strategy './rules.py:Patient': the option 'patience' must be a whole number.",
        ),
        (
            "./rules.py:Patient",
            {"words": ["a", 1]},
            "The strategy './rules.py:Patient': the option 'words' does not fit: "
            "Expected `str`, got `int` - at `$[1]`. Correct it.",
        ),
        (
            "./rules.py:Patient",
            {"notes": 1},
            "The strategy './rules.py:Patient': the option 'notes' does not fit: "
            "Expected `Path`, got `int`. Correct it.",
        ),
        (
            "./rules.py:Careful",
            {},
            "The strategy './rules.py:Careful' needs the option 'laps'. Add it to the spec.",
        ),
        (
            "./rules.py:Careful",
            {"laps": 0},
            "The strategy './rules.py:Careful' can't be created from its options (laps): "
            "ValueError: laps must be at least 1. Correct them.",
        ),
        (
            "./rules.py:make_patient",
            {"hurry": 1},
            "The strategy './rules.py:make_patient' can't be created from its options (hurry): "
            "TypeError: Patient.__init__() got an unexpected keyword argument 'hurry'. Correct them.",
        ),
    ],
)
def test_an_impossible_option_is_named(
    plugins: Plugins, base: Path, name: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        plugins.create("strategy", name, options, base=base)

    assert str(caught.value) == message


def test_values_as_toml_has_them_become_what_the_constructor_asks_for(plugins: Plugins, base: Path) -> None:
    options = {"words": ["a", "b"], "notes": "x/y"}
    created = plugins.create("strategy", "./rules.py:Patient", options, base=base)

    assert (created.object.words, created.object.notes) == (("a", "b"), Path("x/y"))
    assert created.spec.options == options


def test_the_value_of_a_refused_option_is_not_repeated_because_it_may_be_a_secret(plugins: Plugins) -> None:
    assert "hunter2" not in finding(plugins, "fixed", {"iterations": "hunter2"})


@pytest.mark.parametrize(
    ("annotation", "value"),
    [("Callable[[int], int]", abs), ("Speaks", object()), ("Later", 3), ("Any", None), ("object", 3)],
)
def test_a_type_that_can_not_be_checked_is_the_plugins_own_business(
    plugins: Plugins, tmp_path: Path, annotation: str, value: object
) -> None:
    write(
        tmp_path / "rules.py",
        f"""
        from __future__ import annotations
        from collections.abc import Callable
        from typing import Any, Protocol

        class Speaks(Protocol):
            def speak(self): ...

        class Patient:
            def __init__(self, *, given: {annotation}):
                self.given = given

            def decide(self, state, signals):
                raise NotImplementedError
        """,
    )

    made = plugins.create("strategy", "./rules.py:Patient", {"given": value}, base=tmp_path).object
    assert made.given is value


def test_an_option_without_a_type_may_be_anything(plugins: Plugins) -> None:
    plugins.register("strategy", "mine", lambda laps: Fixed(iterations=laps))

    assert plugins.create("strategy", "mine", {"laps": 7}).object == Fixed(iterations=7)


def test_a_plugin_may_complain_about_its_options_in_its_own_words(plugins: Plugins) -> None:
    def careful(laps: int) -> object:
        raise ConfigError(f"laps = {laps} is too many. Write a smaller number.")

    plugins.register("strategy", "careful", careful)

    assert finding(plugins, "careful", {"laps": 3}) == "laps = 3 is too many. Write a smaller number."


def test_a_struct_whose_types_python_can_not_read_still_knows_its_options(
    plugins: Plugins, tmp_path: Path
) -> None:
    write(
        tmp_path / "rules.py",
        """
        from __future__ import annotations
        import msgspec

        class Patient(msgspec.Struct):
            given: Later = 3

            def decide(self, state, signals):
                raise NotImplementedError
        """,
    )

    assert plugins.create("strategy", "./rules.py:Patient", {"given": 4}, base=tmp_path).object.given == 4
    assert finding(plugins, "./rules.py:Patient", {"gven": 4}, base=tmp_path) == (
        "The strategy './rules.py:Patient' can't be created from its options (gven): "
        "TypeError: Unexpected keyword argument 'gven'. Correct them."
    )


# The one method


@pytest.mark.parametrize("kind", CONTRACTS)
def test_the_contracts_are_those_of_the_protocols(kind: Kind) -> None:
    contract = CONTRACTS[kind]
    module, _, name = contract.protocol.rpartition(".")
    method = getattr(getattr(importlib.import_module(module), name), contract.method)

    assert tuple(inspect.signature(method).parameters)[1:] == contract.arguments
    assert inspect.iscoroutinefunction(method) == contract.awaited


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        (
            "strategy",
            "Add `def decide(self, state, signals)`, as in untilgreen.core.values.rules.Strategy.",
        ),
        ("detector", "Add `def detect(self, state)`, as in untilgreen.core.values.rules.Detector."),
        ("gate", "Add `async def check(self, workspace)`, as in untilgreen.ports.Gate."),
        ("agent", "Add `async def work(self, brief, context)`, as in untilgreen.ports.Agent."),
        ("notifier", "Add `async def notify(self, event, state)`, as in untilgreen.ports.Notifier."),
    ],
)
def test_a_plugin_without_its_method_is_refused_with_the_name_of_it(
    plugins: Plugins, tmp_path: Path, kind: Kind, wanted: str
) -> None:
    write(tmp_path / "rules.py", "class Empty: pass\n")
    with pytest.raises(ConfigError) as caught:
        plugins.create(kind, "./rules.py:Empty", base=tmp_path)

    assert str(caught.value) == (
        f"The {kind} './rules.py:Empty' makes a 'Empty' without the method "
        f"{CONTRACTS[kind].method!r}. {wanted}"
    )


@pytest.mark.parametrize(
    ("method", "said"),
    [
        (
            "def decide(self, state): ...",
            "has a method 'decide' with different arguments (too many positional",
        ),
        (
            "def decide(self, a, b, c): ...",
            "has a method 'decide' with different arguments (missing a required",
        ),
        ("async def decide(self, state, signals): ...", "has an async 'decide', which is never awaited."),
        ("decide = 'yes'", "without the method 'decide'."),
    ],
)
def test_a_method_that_can_not_be_called_as_it_will_be_is_refused(
    plugins: Plugins, tmp_path: Path, method: str, said: str
) -> None:
    write(tmp_path / "rules.py", f"class Patient:\n    {method}\n")
    message = finding(plugins, "./rules.py:Patient", base=tmp_path)

    assert said in message
    assert "`def decide(self, state, signals)`" in message


def test_a_method_whose_arguments_python_can_not_see_is_trusted(plugins: Plugins, tmp_path: Path) -> None:
    write(tmp_path / "rules.py", "class Odd:\n    decide = max\n")

    assert plugins.create("strategy", "./rules.py:Odd", base=tmp_path).object.decide is max


# Registering


def test_a_registered_plugin_answers_to_its_name(plugins: Plugins) -> None:
    plugins.register("strategy", "three", Fixed)

    assert plugins.create("strategy", "three").spec == PartSpec(name="three", origin="registered")
    assert plugins.has("strategy", "three")
    assert plugins.list("strategy")[-1] == PluginInfo(
        name="three",
        kind="strategy",
        origin="registered",
        summary="At most N laps, fewer if the gates turn green earlier.",
    )


def test_a_name_belongs_to_its_kind(plugins: Plugins) -> None:
    plugins.register("detector", "hybrid", Cycle)

    assert plugins.create("detector", "hybrid").object == Cycle()
    assert plugins.create("strategy", "hybrid").object == Hybrid()
    assert not plugins.has("gate", "hybrid")


@pytest.mark.parametrize(
    ("name", "origin"), [("hybrid", "built-in and registered"), ("mine", "registered and registered")]
)
def test_a_name_can_not_be_registered_over_another(plugins: Plugins, name: str, origin: str) -> None:
    plugins.register("strategy", "mine", Fixed)
    with pytest.raises(ConfigError) as caught:
        plugins.register("strategy", name, Fixed)

    assert str(caught.value) == f"The strategy {name!r} is provided more than once: {origin}. Rename one."


@pytest.mark.parametrize("name", ["", "a:b", "./rules.py", "rules.py", "two words"])
def test_a_name_that_reads_like_a_place_can_not_be_registered(plugins: Plugins, name: str) -> None:
    with pytest.raises(ConfigError, match=r"can't be the name of a strategy\. Use letters, digits"):
        plugins.register("strategy", name, Fixed)


def test_only_what_can_make_something_can_be_registered(plugins: Plugins) -> None:
    factory: Any = Fixed()
    with pytest.raises(ConfigError, match="must be a class or a function"):
        plugins.register("strategy", "mine", factory)


def test_a_process_has_one_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registered", {})
    registry.register("strategy", "three", Fixed)
    plan = Plan(task="t", strategy=PartSpec(name="three", options={"iterations": 2}))

    assert policy_of(plan, objects_of(plan)).strategy == Fixed(iterations=2)


# has and list


def test_has_tells_what_would_be_found(plugins: Plugins, base: Path) -> None:
    write(base / "broken.py", "1 / 0\n\nclass Patient: ...\n")
    names = [
        "hybrid",
        "hybird",
        "./rules.py:Patient",
        "./rules.py:Nobody",
        "./nowhere.py:Patient",
        "./broken.py:Patient",
        "untilgreen.core.strategies.fixed:Fixed",
        "acme_nowhere:Patient",
    ]

    assert [plugins.has("strategy", name, base=base) for name in names] == [
        True,
        False,
        True,
        False,
        False,
        True,
        True,
        False,
    ]


def test_the_list_says_what_each_is_for(plugins: Plugins) -> None:
    rows = {row.name: row.summary for row in plugins.list("detector") if row.origin == "built-in"}

    assert list(rows) == ["cycle", "similar", "stall", "errors", "claims", "noop"]
    assert rows["noop"] == "The last turn changed no file though something is still red; only ever a nudge."


def test_a_plugin_without_a_docstring_has_an_empty_summary(plugins: Plugins) -> None:
    plugins.register("strategy", "mute", lambda laps=3: Fixed(iterations=laps))

    assert plugins.list("strategy")[-1].summary == ""


# Installed packages


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both packages, installed by pip into their own directory."""
    target = tmp_path_factory.mktemp("site-packages")
    # Unless flit_core is installed, pip gets it as make did, in the version that constraints.txt names.
    constraints = ["--build-constraint", str(ROOT / "constraints.txt")]
    build = ["--no-build-isolation", "--no-index"] if find_spec("flit_core") else constraints
    command = [sys.executable, "-m", "pip", "install", "-qq", "--no-deps", "--target", str(target), *build]
    done = subprocess.run(
        [*command, str(PACKAGES / "patient"), str(PACKAGES / "rival")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return target


def ask(installed: Path, program: str) -> Any:
    """The JSON that the program prints in a new interpreter with the packages on its path."""
    start = (
        "import json, sys\n"
        "from untilgreen.errors import UserError\n"
        "from untilgreen.plugins.registry import registry\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", start + dedent(program)],
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def refusal(installed: Path, call: str) -> Any:
    return ask(installed, f"try: {call}\nexcept UserError as error: print(json.dumps(str(error)))")


def test_an_installed_strategy_drives_a_run(installed: Path) -> None:
    told = ask(
        installed,
        """
        from untilgreen.testing import story
        created = registry.create("strategy", "patient", {"patience": 2})
        run = story("ab b a a c", created.object, detectors=())
        spec = created.spec
        ended = [run.outcome, run.reason, len(run.laps)]
        print(json.dumps([spec.name, spec.origin, spec.options, *ended]))
        """,
    )

    assert told == [
        "patient",
        "package untilgreen-patient 1.2",
        {"patience": 2},
        Outcome.STUCK,
        "2 laps with the same failures",
        4,
    ]


def test_every_kind_comes_through_the_same_door(installed: Path) -> None:
    told = ask(
        installed,
        """
        kinds = ("strategy", "detector", "gate", "agent", "notifier")
        names = ("patient", "silence", "no-todos", "parrot", "diary")
        made = [registry.create(kind, name) for kind, name in zip(kinds, names)]
        print(json.dumps([[type(each.object).__name__, each.spec.origin] for each in made]))
        """,
    )

    origin = "package untilgreen-patient 1.2"
    assert told == [[name, origin] for name in ("Patient", "Silence", "NoTodos", "_Parrot", "Diary")]


def test_the_list_shows_packages_and_what_is_wrong_with_them(installed: Path) -> None:
    rows = ask(
        installed,
        """
        rows = [row for row in registry.list("strategy") if row.origin != "built-in"]
        print(json.dumps([[row.name, row.origin, row.summary, row.problem] for row in rows]))
        """,
    )
    patient, rival = "package untilgreen-patient 1.2", "package untilgreen-rival 0.3"
    goes_on, gives_up = "Continues for as long as the failures keep changing.", "Gives up at once."
    contested = refusal(installed, "registry.create('strategy', 'contested')")

    assert rows == [
        [
            "broken",
            patient,
            "",
            f"The strategy 'broken' from {patient} can't be loaded: "
            f"{installed}/untilgreen_patient/broken.py, line 3: "
            "RuntimeError: the moon is in the wrong phase. Correct that, and try again.",
        ],
        ["contested", patient, goes_on, contested],
        ["contested", rival, gives_up, contested],
        [
            "hybrid",
            rival,
            gives_up,
            f"The strategy 'hybrid' is provided more than once: built-in and {rival}. "
            "Rename one, or name the one you mean by its place: 'untilgreen_rival:Hasty'.",
        ],
        [
            "missing",
            patient,
            "",
            f"The strategy 'missing' from {patient} can't be found: "
            "there is no 'Impatient' in 'untilgreen_patient'. "
            "It has Diary, NoTodos, Patient, Silence, parrot. Did you mean 'Patient'?",
        ],
        ["patient", patient, goes_on, ""],
    ]


def test_a_name_that_two_packages_offer_is_an_error_that_names_both(installed: Path) -> None:
    assert refusal(installed, "registry.create('strategy', 'contested')") == (
        "The strategy 'contested' is provided more than once: "
        "package untilgreen-patient 1.2 and package untilgreen-rival 0.3. "
        "Rename one, or name the one you mean by its place: "
        "'untilgreen_patient:Patient' or 'untilgreen_rival:Hasty'."
    )


def test_a_contested_name_can_be_had_by_its_place(installed: Path) -> None:
    told = ask(
        installed,
        """
        created = registry.create("strategy", "untilgreen_rival:Hasty")
        print(json.dumps([type(created.object).__name__, created.spec.origin]))
        """,
    )

    assert told == ["Hasty", "module untilgreen_rival"]


def test_a_package_can_not_take_the_name_of_a_built_in(installed: Path) -> None:
    told = ask(
        installed,
        """
        created = registry.create("strategy", "hybrid")
        print(json.dumps([type(created.object).__module__, created.spec.origin]))
        """,
    )

    assert told == ["untilgreen.core.strategies.hybrid", "built-in"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            "registry.create('strategy', 'patint')",
            "No strategy named 'patint'. Did you mean 'patient'?",
        ),
        (
            "registry.create('strategy', 'patient', {'patience': 0})",
            "The strategy 'patient' can't be created from its options (patience): "
            "ValueError: patience must be at least 1. Correct them.",
        ),
        (
            "registry.create('strategy', 'patient', {'patiense': 3})",
            "The strategy 'patient' has no option 'patiense'. Did you mean 'patience'?",
        ),
        (
            "registry.register('strategy', 'patient', print)",
            "The strategy 'patient' is provided more than once: "
            "package untilgreen-patient 1.2 and registered. "
            "Rename one, or name the one you mean by its place: 'untilgreen_patient:Patient'.",
        ),
    ],
)
def test_a_mistake_with_an_installed_plugin_is_a_clear_error(
    installed: Path, call: str, message: str
) -> None:
    assert refusal(installed, call) == message


# Speed


def test_packages_are_looked_for_only_when_a_name_is_not_built_in(tmp_path: Path) -> None:
    told = ask(
        tmp_path,
        """
        def loaded():
            return ["importlib.metadata" in sys.modules, "untilgreen.core.strategies.hybrid" in sys.modules]

        told = [loaded()]
        registry.create("strategy", "hybrid")
        told.append(loaded())
        registry.has("strategy", "nobody")
        told.append(loaded())
        print(json.dumps(told))
        """,
    )

    assert told == [[False, False], [False, True], [True, True]]
