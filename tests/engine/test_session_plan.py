"""The settings of a loop in a session: its start, then `[session]`, the rest of the spec, the defaults."""

import json
from pathlib import Path
from typing import Any

import pytest

from untilgreen.config.load import Request, load
from untilgreen.config.trust_request import trust_request_of
from untilgreen.core.strategies.ralph import Ralph
from untilgreen.core.values.model import Plan
from untilgreen.engine.session_plan import LoopRequest, SessionPlan, session_plan
from untilgreen.engine.store.notes.trust_book import TrustBook
from untilgreen.engine.store.runs import Store

GATE = "[gates.tests]\nrun = 'true'\n"


@pytest.fixture
def planned(tmp_path: Path) -> Any:
    """Makes the plan of a loop that is started in a directory whose spec the user trusts."""

    def make(spec: str, **wish: Any) -> SessionPlan:
        (tmp_path / "untilgreen.toml").write_text(spec + GATE)
        store = Store(tmp_path / "state")
        request = trust_request_of(load(Request(start=tmp_path, taskless=True)))
        assert request is not None
        TrustBook(store).remember(request, 0.0)
        return session_plan(
            LoopRequest(session="id-1", agent="claude", task="make it ok", directory=tmp_path, **wish), store
        )

    return make


def options(plan: Plan) -> tuple[str, dict[str, Any]]:
    return plan.strategy.name, plan.strategy.options


def test_without_a_strategy_a_session_has_ralph(planned: Any) -> None:
    assert options(planned("").plan) == ("ralph", {})


@pytest.mark.parametrize(
    "strategy",
    [
        {"use": "ralph", "min": 3, "max": 9, "tokens": True},
        {"use": "hybrid", "base": 2, "bonus": 1},
    ],
)
def test_the_options_of_the_specs_strategy_hold_in_a_session(planned: Any, strategy: dict[str, Any]) -> None:
    written = ", ".join(f"{key} = {json.dumps(value)}" for key, value in strategy.items())
    wanted = {key: value for key, value in strategy.items() if key != "use"}

    assert options(planned(f"strategy = {{ {written} }}\n").plan) == (strategy["use"], wanted)
    same = planned(f"strategy = {{ {written} }}\n", strategy=strategy["use"]).plan
    assert options(same) == (strategy["use"], wanted)


def test_another_strategy_at_the_start_brings_its_own_options(planned: Any) -> None:
    plan = planned("strategy = { use = 'ralph', min = 3 }\n", strategy="fixed").plan

    assert options(plan) == ("fixed", {})


def test_a_custom_strategy_can_be_named_as_for_a_run(planned: Any, tmp_path: Path) -> None:
    (tmp_path / "rules.py").write_text(
        "from untilgreen import Continue\n"
        "class Patient:\n"
        "    def decide(self, state, signals):\n"
        "        return Continue(reason='more')\n"
    )

    assert planned("", strategy="./rules.py:Patient").plan.strategy.name == "./rules.py:Patient"


@pytest.mark.parametrize(
    ("spec", "wish", "text"),
    [
        ("", None, "DONE"),
        ("strategy = { use = 'ralph', promise = 'OF_STRATEGY' }\n", None, "OF_STRATEGY"),
        ("promise = 'OF_SPEC'\nstrategy = { use = 'ralph', promise = 'X' }\n", None, "OF_SPEC"),
        ("promise = 'OF_SPEC'\nsession.promise = 'OF_SESSION'\n", None, "OF_SESSION"),
        ("session.promise = 'OF_SESSION'\n", "OF_START", "OF_START"),
    ],
)
def test_the_nearest_promise_wins(planned: Any, spec: str, wish: str | None, text: str) -> None:
    promise = planned(spec, promise=wish).plan.promise

    assert promise is not None
    assert promise.text == text


def test_the_strategys_min_and_tokens_reach_the_promise(planned: Any) -> None:
    promise = planned("strategy = { use = 'ralph', min = 4, tokens = true }\n").plan.promise

    assert promise is not None
    assert (promise.min, promise.tokens, Ralph().min) == (4, True, 1)


@pytest.mark.parametrize(
    ("template", "missing"),
    [
        ("{{STATUS}}\n{{FAILING}}\n{{PROMPT}}", ""),
        ("{{STATUS}}\n{{PROMPT}}", "{{FAILING}}"),
        ("{{PROMPT}}", "{{STATUS}} and {{FAILING}}"),
    ],
)
def test_a_template_that_does_not_show_how_the_last_lap_went_is_warned_about(
    planned: Any, tmp_path: Path, template: str, missing: str
) -> None:
    (tmp_path / "brief.md").write_text(template)

    warnings = planned("session.brief = 'brief.md'\n").warnings

    assert [f"has no {missing}," in each for each in warnings] == ([True] if missing else [])
