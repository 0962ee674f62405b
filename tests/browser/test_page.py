"""The page of `untilgreen serve` in a real browser: live, by keyboard, on a phone, against hostile text."""

import signal
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import pytest
from msgspec.structs import replace

from tests.surfaces.cli.conftest import cli, env
from tests.surfaces.cli.helpers import Cli, eventually
from tests.surfaces.report.played import hostile_run
from tests.surfaces.web.helpers import keep
from untilgreen.core.values.events import RunStarted
from untilgreen.engine.store.runs import Store
from untilgreen.journal.file import FileJournal

__all__ = ["cli", "env"]
TURNS = """\
cat > {tmp}/brief-$(ls {tmp} | grep -c brief-).txt
echo "turn" >> work.txt
touch {tmp}/began
while ! test -e {tmp}/go; do sleep 0.05; done
"""
Visit = Callable[..., Any]
AXE = Path(__file__).parents[2] / ".venv" / "axe.min.js"


@pytest.fixture
def visit(browser: Any, cli: Cli) -> Iterator[Visit]:
    """Open a screen of a real server; the page records its console messages and errors."""
    contexts: list[Any] = []
    addresses: list[str] = []

    def open_(
        screen: str = "#/runs",
        *,
        width: int = 1200,
        scheme: str = "light",
        flags: tuple[str, ...] = (),
        **options: Any,
    ) -> Any:
        if not addresses:
            started = cli.start("serve", "--port", "0", *flags)
            assert started.process.stdout is not None
            addresses.append(started.process.stdout.readline().strip())
        context = browser.new_context(
            color_scheme=scheme, viewport={"width": width, "height": 900}, **options
        )
        contexts.append(context)
        page = context.new_page()
        page.findings = []
        page.on("console", lambda message: page.findings.append(message.text))
        page.on("pageerror", lambda error: page.findings.append(str(error)))
        page.goto(addresses[0])
        page.get_by_role("heading", name="Runs").wait_for()
        page.evaluate("address => { location.hash = address }", screen)
        return page

    yield open_
    for context in contexts:
        context.close()
    for started in cli.started:
        if started.process.poll() is None:
            started.signal(signal.SIGINT)


@pytest.fixture
def store(cli: Cli) -> Store:
    return Store(Path(cli.env["UNTILGREEN_STATE_DIR"]))


def kept(store: Store, place: Path, kind: str) -> str:
    return elsewhere(keep, store, place, kind)


def elsewhere(function: Callable[..., Awaitable[str]], *arguments: Any) -> str:
    """Playwright has an event loop in this thread, so ours runs in another."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(anyio.run, function, *arguments).result()


def test_a_run_is_watched_live_steered_and_commented_from_the_page(visit: Visit, cli: Cli) -> None:
    agent = cli.agent(TURNS.format(tmp=cli.tmp))
    driving = cli.start(
        "run",
        "Fix it.",
        "--agent",
        agent,
        "--gate",
        "echo FAILED a.py::test_x; exit 1",
        "--max-iterations",
        "2",
    )
    eventually((cli.tmp / "began").exists, "the first turn")
    (run,) = cli.ids
    page = visit(f"#/run/{run}")
    page.get_by_text("is working on lap 1").wait_for()

    page.get_by_label("Note for the agent").fill("Look at the clock.")
    page.get_by_role("button", name="Send note").click()
    page.get_by_text("The agent gets your note with its next brief.").wait_for()
    (cli.tmp / "go").touch()
    driving_ended = driving.end()
    page.get_by_text("exhausted", exact=True).first.wait_for()
    page.get_by_role("button", name="lap 1: 1 failing").first.click()
    page.get_by_role("heading", name="Lap 1").wait_for()

    assert driving_ended.code == 3
    assert "Look at the clock." in (cli.tmp / "brief-1.txt").read_text()
    page.get_by_text("FAILED a.py::test_x").first.wait_for()
    page.get_by_text("+turn").first.wait_for()
    assert page.findings == []


def test_a_question_is_answered_from_the_inbox(visit: Visit, cli: Cli, store: Store) -> None:
    run = kept(store, cli.place, "asking")
    page = visit("#/inbox")
    page.get_by_text("one more lap").first.wait_for()
    page.get_by_label("Note (optional)").fill("good enough")

    page.get_by_role("button", name="accept").click()
    page.get_by_text("No run is waiting for you.").wait_for()

    answered = [event for event in cli.journal(run) if event["type"] == "Answered"]
    assert [(each["choice"], each["note"]) for each in answered] == [("accept", "good enough")]
    assert page.findings == []


def test_a_question_shows_its_gates_and_a_rollback_asks_for_its_lap(
    visit: Visit, cli: Cli, store: Store
) -> None:
    run = kept(store, cli.place, "asking")
    page = visit("#/inbox", width=390)
    page.get_by_role("link", name="What lap 1 changed").wait_for()
    rollback = page.get_by_role("button", name="rollback")

    assert page.locator(".question .mark").count() == 1
    assert rollback.is_disabled()
    page.get_by_label("Which lap, for rollback").fill("0")
    rollback.click()
    page.get_by_text("No run is waiting for you.").wait_for()

    answered = [event for event in cli.journal(run) if event["type"] == "Answered"]
    assert [(each["choice"], each["argument"]) for each in answered] == [("rollback", "0")]
    assert page.findings == []


def test_every_line_of_a_deleted_file_is_in_its_diff(visit: Visit, cli: Cli) -> None:
    (cli.place / "query.sql").write_text("-- all of them\nSELECT 1;\n")
    agent = cli.agent("cat > /dev/null; rm query.sql")
    cli("run", "Fix it.", "--agent", agent, "--gate", "test ! -e query.sql")
    page = visit(f"#/run/{cli.ids[0]}/lap/1")

    page.get_by_text("-SELECT 1;").wait_for()
    assert page.get_by_text("--- all of them").count() == 1


def test_a_comment_on_lines_of_a_diff_arrives_in_the_next_brief(visit: Visit, cli: Cli) -> None:
    agent = cli.agent(TURNS.format(tmp=cli.tmp))
    gate = ("--gate", "test -f done", "--max-iterations", "2")
    driving = cli.start("run", "Fix it.", "--agent", agent, *gate, "--set", "session='fresh'")
    eventually((cli.tmp / "began").exists, "the first turn")
    (run,) = cli.ids
    cli("pause", run)
    (cli.tmp / "go").touch()
    eventually(
        lambda: [each for each in cli.journal(run) if each["type"] == "Decided" and each["lap"] == 1], "lap 1"
    )
    page = visit(f"#/run/{run}/lap/1")

    page.get_by_role("cell", name="1").last.click()
    page.get_by_label("Comment for the agent").fill("Why a turn?")
    page.get_by_role("button", name="Send to the agent").click()
    page.get_by_text("Sent to the agent: Why a turn?").wait_for()
    driving.end()
    assert cli("resume", run).code == 3

    brief = (cli.tmp / "brief-1.txt").read_text()
    assert "About work.txt, line 1 (lap 1):" in brief
    assert "> +turn" in brief
    assert "Why a turn?" in brief


def test_a_run_that_was_killed_is_resumed_on_the_page_and_seen_to_end(visit: Visit, cli: Cli) -> None:
    agent = cli.agent(TURNS.format(tmp=cli.tmp))
    driving = cli.start("run", "Fix it.", "--agent", agent, "--gate", "test -f work.txt")
    eventually((cli.tmp / "began").exists, "the first turn")
    (run,) = cli.ids
    page = visit(f"#/run/{run}")
    page.get_by_text("is working on lap 1").wait_for()
    driving.process.kill()
    driving.process.communicate()
    (cli.tmp / "go").touch()
    page.reload()
    page.get_by_text("interrupted: no process is driving this run").wait_for()

    page.get_by_role("button", name="Resume", exact=True).click()

    page.get_by_text("converged", exact=True).first.wait_for(timeout=60_000)
    assert page.findings == []


def test_what_other_strategies_would_have_done_is_shown(visit: Visit, cli: Cli, store: Store) -> None:
    kept(store, cli.place, "green")
    page = visit("#/backtest")
    page.get_by_text("1 run replayed").wait_for()
    page.get_by_label("Strategies, separated by semicolons").fill('{ use = "fixed", iterations = 1 }')
    page.get_by_role("button", name="Replay").click()

    page.get_by_role("img", name="loses 100% of the successes").wait_for()
    page.get_by_text("ends after lap 1, and is lost").wait_for()
    assert page.findings == []


@pytest.mark.parametrize("width", [1200, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_screen_fits_its_width(visit: Visit, cli: Cli, store: Store, width: int, scheme: str) -> None:
    run, other = kept(store, cli.place, "green"), kept(store, cli.place, "asking")
    page = visit("#/runs", width=width, scheme=scheme)
    for screen, heading in (
        ("#/runs", "Runs"),
        (f"#/run/{run}", "Fix the cart"),
        (f"#/run/{run}/lap/2", "Lap 2"),
        ("#/inbox", "Inbox"),
        (f"#/compare/{run},{other}", "Compare"),
        ("#/backtest", "Backtest"),
        ("#/start", "Start a run"),
    ):
        page.evaluate("address => { location.hash = address }", screen)
        page.get_by_role("heading", name=heading, exact=True).first.wait_for()
        page.wait_for_timeout(300)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, screen
    assert page.findings == []


def test_a_run_is_started_from_the_page_after_its_plan_was_shown(visit: Visit, cli: Cli) -> None:
    page = visit("#/start", flags=("--root", str(cli.place)))
    page.get_by_role("button", name="Small budget").click()
    page.get_by_label("Task", exact=True).fill("Make it so.")
    page.get_by_label("Agent", exact=True).fill(cli.agent("cat > /dev/null; touch done"))
    page.get_by_role("button", name="Add to Gates").click()
    gates = page.get_by_role("group", name="Gates")
    gates.get_by_label("Name").fill("done")
    gates.get_by_label("Run", exact=True).fill("test -f done")
    gates.get_by_text("More options").click()
    gates.get_by_label("When", exact=True).select_option("changed")
    gates.get_by_label("Retries", exact=True).fill("1")
    page.get_by_text("More settings").click()
    page.get_by_role("button", name="Add to Remedies").click()
    page.get_by_label("Remedies 1", exact=True).select_option("fresh")
    page.get_by_role("button", name="Add to Labels").click()
    labels = page.get_by_role("group", name="Labels")
    labels.get_by_label("Name").fill("team")
    labels.get_by_label("Value").fill("core")
    page.get_by_label("Strategy", exact=True).fill("{ not json")
    page.get_by_role("button", name="Show the plan").click()
    page.get_by_text("strategy: a table is written as JSON here").wait_for()
    page.get_by_label("Strategy", exact=True).fill('{"use": "hybrid", "base": 3}')
    page.get_by_role("button", name="Show the plan").click()
    page.get_by_role("heading", name="The plan").wait_for()
    page.get_by_role("region", name="The plan").get_by_text("edit files and run the gates").wait_for()

    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_role("heading", name="Make it so.").wait_for()
    page.get_by_text("converged", exact=True).first.wait_for(timeout=60_000)

    (run,) = cli.ids
    plan = cli.journal(run)[0]["plan"]
    assert plan["workspace"]["mode"] == "worktree"
    assert (plan["limits"]["iterations"], plan["limits"]["time"]) == (5, 3600)
    assert (plan["gates"][0]["retries"], plan["gates"][0]["when"]) == (1, "changed")
    assert plan["labels"] == {"team": "core"}
    assert plan["strategy"]["options"] == {"base": 3}
    assert page.findings == []


FLEET = {
    "workers": [
        {"name": "box-1a2b", "slots": 4, "labels": ["gpu"], "seen": 1_790_000_000, "drives": ["0000001xx"]},
        {"name": "box-3c4d", "slots": 2, "labels": [], "seen": None, "drives": []},
    ],
    "queues": [
        {"name": "untilgreen", "labels": [], "waiting": 0, "workers": ["box-1a2b", "box-3c4d"]},
        {"name": "untilgreen:arm", "labels": ["arm"], "waiting": 3, "workers": []},
    ],
    "driven": [
        {
            "run": "0000001xx",
            "worker": "box-1a2b",
            "seen": 1_790_000_000,
            "drive": 2,
            "attempt": 2,
            "title": "<b>Fix it</b>",
            "agent": "claude",
            "laps": 3,
        }
    ],
    "limits": [
        {"agent": "claude", "most": 2, "holders": ["0000001xx"], "waiting": ["0000002xx"], "known": True}
    ],
    "takeovers": [{"run": "0000001xx", "at": 1_790_000_000, "before": "box-3c4d", "after": "box-1a2b"}],
    "resting": 1_200,
    "temporal": "",
}


def test_the_fleet_is_shown_where_there_is_one(visit: Visit) -> None:
    page = visit("#/runs", bypass_csp=True)
    assert page.get_by_role("link", name="Fleet").count() == 0
    page.route("**/api/v1/version", _with_a_fleet)
    page.route("**/api/v1/fleet", lambda route: route.fulfill(json=FLEET))
    page.reload()
    page.get_by_role("link", name="Fleet").click()

    worker = page.get_by_role("region", name="Worker box-1a2b")
    worker.get_by_text("<b>Fix it</b>").wait_for()
    worker.get_by_text("attempt 2").wait_for()
    page.get_by_role("row", name="arm").get_by_text("none").wait_for()
    page.get_by_text("1 of 2, 1 waiting").wait_for()
    page.get_by_text("box-3c4d → box-1a2b").wait_for()
    page.get_by_text("1,200 open runs without a process").wait_for()
    assert page.findings == []
    page.evaluate(AXE.read_text())
    assert [each["id"] for each in page.evaluate("axe.run()")["violations"]] == []


def _with_a_fleet(route: Any) -> None:
    answer = route.fetch()
    route.fulfill(response=answer, json={**answer.json(), "fleet": True})


def test_the_token_leaves_the_address_and_no_cookie_is_made(visit: Visit, store: Store) -> None:
    page = visit("#/runs")
    (path,) = store.state_dir.glob("serve-*.token")
    token = path.read_text().strip()

    assert token not in page.url
    assert token in page.evaluate("Object.values(sessionStorage)")
    assert page.evaluate("Object.values(localStorage)") == []
    assert page.context.cookies() == []


def test_a_server_without_roots_starts_nothing(visit: Visit) -> None:
    page = visit("#/start")

    page.get_by_text("This server doesn't start runs.").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_any_screen(
    browser: Any, visit: Visit, cli: Cli, store: Store, scheme: str
) -> None:
    assert AXE.exists(), "axe-core is missing here. Run `make test-browser`, which fetches it."
    run, other = kept(store, cli.place, "green"), kept(store, cli.place, "asking")
    page = visit("#/runs", scheme=scheme, bypass_csp=True, flags=("--root", str(cli.place)))
    page.evaluate(AXE.read_text())
    found = []
    for screen in (
        "#/runs",
        f"#/run/{run}",
        f"#/run/{other}",
        f"#/run/{run}/lap/2",
        "#/inbox",
        f"#/compare/{run}",
        "#/backtest",
        "#/start",
    ):
        page.evaluate("address => { location.hash = address }", screen)
        page.wait_for_timeout(800)
        page.locator("main h1").wait_for()
        found += [f"{screen} {each['id']}" for each in page.evaluate("axe.run()")["violations"]]

    assert found == []


def test_the_matrix_says_in_words_what_its_signs_mean(visit: Visit, cli: Cli, store: Store) -> None:
    page = visit(f"#/run/{kept(store, cli.place, 'green')}")
    page.get_by_role("button", name="style, lap 2: 1 failing").wait_for()

    assert page.get_by_role("button", name="tests, lap 0: 3 failing").count() == 1
    assert page.get_by_role("button", name="tests, lap 3: passed").count() == 1


def test_the_page_is_used_with_the_keyboard_alone(visit: Visit, cli: Cli, store: Store) -> None:
    kept(store, cli.place, "asking")
    page = visit("#/runs")
    page.keyboard.press("g")
    page.keyboard.press("i")
    page.get_by_role("button", name="accept").wait_for()
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "accept":
            break
    page.keyboard.press("Enter")

    page.get_by_text("No run is waiting for you.").wait_for()


def test_hostile_text_stays_text_in_every_field(visit: Visit, cli: Cli, store: Store) -> None:
    run = elsewhere(keep_hostile, store, cli.place)
    page = visit("#/runs")
    for screen in ("#/runs", f"#/run/{run}", f"#/run/{run}/lap/1", f"#/compare/{run}", "#/inbox"):
        page.evaluate("address => { location.hash = address }", screen)
        page.wait_for_timeout(700)
        if screen != "#/inbox":
            assert "<script>document.title" in page.inner_text("main"), "the text is visible"
        assert page.evaluate("document.querySelectorAll('main script, main img, main iframe').length") == 0

    assert page.title() != "owned"
    assert [each for each in page.findings if "owned" in each or "Policy" in each] == []


async def keep_hostile(store: Store, place: Path) -> str:
    """Write the hostile run of the report's tests to a journal."""
    run = hostile_run()
    folder = store.create(1_790_000_000.0, workspace=place, title="x")
    journal = FileJournal(folder.journal)
    first, *rest = run.events
    assert isinstance(first, RunStarted)
    plan = replace(first.plan, workspace={"start": str(place)})
    for event in (replace(first, run=folder.id, plan=plan), *rest):
        await journal.append(event)
    return folder.id


def test_a_tab_without_the_token_says_what_to_do(visit: Visit, cli: Cli) -> None:
    page = visit("#/runs")
    stranger = page.context.browser.new_context().new_page()
    stranger.goto(page.url.partition("#")[0])

    stranger.get_by_text("This tab has no token.").wait_for()
    stranger.context.close()
    assert "#/runs" in page.url, "the token is not in the address"
