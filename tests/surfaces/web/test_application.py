"""The API: what it answers, what it refuses, and that a repeated request does nothing twice."""

import os
import tomllib
from importlib import import_module
from pathlib import Path
from urllib.parse import quote

import httpx
import msgspec
import pytest
from msgspec.structs import replace

from tests.core.helpers import PASS, Run, Turn, gate
from tests.surfaces.web.helpers import HOST, TOKEN, at_once
from untilgreen.core.loop.fold import fold
from untilgreen.core.values.events import RunStarted
from untilgreen.core.values.model import PartSpec
from untilgreen.engine.store.hub import Hubs
from untilgreen.engine.store.runs import Store
from untilgreen.journal.file import FileJournal
from untilgreen.surfaces.web.api.openapi import document
from untilgreen.surfaces.web.api.operations import TABLE
from untilgreen.surfaces.web.api.requests import Nothing, Problem
from untilgreen.surfaces.web.api.values import ANSWERS
from untilgreen.surfaces.web.application import application
from untilgreen.surfaces.web.backend import opened
from untilgreen.surfaces.web.changed_runs import ChangedRuns
from untilgreen.surfaces.web.guard import Refusal
from untilgreen.surfaces.web.handlers.call import STARTS_A_MINUTE, Call, Service
from untilgreen.surfaces.web.handlers.start import check_room
from untilgreen.surfaces.web.known_runs import ListedRun
from untilgreen.surfaces.web.mcp_mount import McpMount
from untilgreen.surfaces.web.people import Person
from untilgreen.surfaces.web.runs import Runs


async def test_runs_are_listed_with_their_gates_and_what_waits(
    client: httpx.AsyncClient, green: str, asking: str
) -> None:
    listed = (await client.get("/api/v1/runs")).json()

    rows = {row["run"]: row for row in listed["runs"]}
    assert listed["total"] == 2
    assert rows[green]["status"] == "converged"
    assert [mark["status"] for mark in rows[green]["gates"]] == ["pass", "pass"]
    assert rows[green]["scores"] == [0.5, 0.0, 1.0]
    assert rows[asking]["waiting"].startswith("Lap 1 scored 0.00")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"status": "converged"}, ["green"]),
        ({"status": "waiting"}, ["asking"]),
        ({"search": "CART"}, ["asking", "green"]),
        ({"search": "nothing"}, []),
        ({"limit": "1"}, ["asking"]),
    ],
)
async def test_runs_are_filtered(
    client: httpx.AsyncClient, green: str, asking: str, query: dict[str, str], found: list[str]
) -> None:
    names = {green: "green", asking: "asking"}
    answer = (await client.get("/api/v1/runs", params=query)).json()

    assert [names[row["run"]] for row in answer["runs"]] == found


async def test_a_page_continues_where_the_last_one_ended(
    client: httpx.AsyncClient, green: str, asking: str
) -> None:
    first = (await client.get("/api/v1/runs", params={"limit": "1"})).json()
    second = (await client.get("/api/v1/runs", params={"limit": "1", "before": first["next"]})).json()

    assert [row["run"] for row in first["runs"] + second["runs"]] == [asking, green]
    assert second["next"] is None


SLASHED = sorted({f"{each.path}/" for each in TABLE if each.method == "GET"})
NOWHERE = ["/api/v1", "/api/v1/", "/api/v1/nothing", "/api/v2/runs", "/mcp/", "/assets/", "/nothing/"]


@pytest.mark.parametrize("path", [*SLASHED, *NOWHERE])
async def test_an_address_with_nothing_behind_it_is_a_problem(
    client: httpx.AsyncClient, green: str, path: str
) -> None:
    answer = await client.get(path.format(run=green, lap="0", gate="tests"))

    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
    assert msgspec.json.decode(answer.content, type=Problem).status == 404


async def test_a_run_its_course_and_its_laps(client: httpx.AsyncClient, green: str) -> None:
    run = (await client.get(f"/api/v1/runs/{green}")).json()
    course = (await client.get(f"/api/v1/runs/{green}/progress")).json()
    lap = (await client.get(f"/api/v1/runs/{green}/laps/2")).json()

    assert (run["status"], run["reason"]) == ("converged", "all required gates pass in lap 3")
    assert run["why"]["ways"][0]["command"] == f"untilgreen diff {green}"
    assert course["laps"] == [0, 1, 2, 3]
    assert course["cells"] == {
        "tests": ["fail:3", "fail:1", "fail:2", "pass"],
        "style": ["pass", "pass", "fail:1", "pass"],
    }
    assert (lap["fixed"], lap["new"]) == ([], ["style: long line", "tests: d"])
    assert lap["missing"].startswith("The diff can't be shown")


async def test_unknown_things_are_problems_with_a_reason(client: httpx.AsyncClient, green: str) -> None:
    for path in ("runs/zzzzzzzzz", f"runs/{green}/laps/9", f"runs/{green}/laps/1/output/none", "nothing"):
        answer = await client.get(f"/api/v1/{path}")
        assert answer.status_code == 404
        assert set(answer.json()) == {"title", "status", "detail", "type"}
    assert (await client.get("/api/v1/runs", params={"sort": "x"})).status_code == 400


async def test_an_answer_reaches_the_run_with_the_persons_name(
    client: httpx.AsyncClient, asking: str, store: Store
) -> None:
    (question,) = (await client.get("/api/v1/inbox")).json()["questions"]
    assert [choice["choice"] for choice in question["choices"]][:2] == ["continue", "accept"]
    assert all(choice["meaning"] for choice in question["choices"])
    assert (question["lap"], question["gates"]) == (1, [{"gate": "tests", "status": "fail"}])

    body = {"choice": "accept", "question": question["id"], "note": "good enough"}
    done = await client.post(f"/api/v1/runs/{asking}/answer", json=body)

    assert done.status_code == 200
    state = fold(await journal(store, asking).events())
    assert state is not None
    assert state.answer is not None
    assert (state.answer.by, state.answer.choice) == ("ann", "accept")


async def test_an_answer_to_an_older_question_is_refused(client: httpx.AsyncClient, asking: str) -> None:
    body = {"choice": "accept", "question": "q0"}
    answer = await client.post(f"/api/v1/runs/{asking}/answer", json=body)

    assert answer.status_code == 409
    assert answer.json()["detail"].startswith("Question 'q0' is no longer open.")


async def test_what_the_command_line_refuses_is_refused_with_the_same_sentence(
    client: httpx.AsyncClient, green: str, asking: str
) -> None:
    over = await client.post(f"/api/v1/runs/{green}/pause", json={})
    wrong = await client.post(f"/api/v1/runs/{asking}/answer", json={"choice": "maybe"})

    assert (over.status_code, over.json()["detail"]) == (409, f"Run {green} has ended: converged.")
    assert wrong.status_code == 409
    assert "'maybe'" in wrong.json()["detail"]


async def test_a_comment_on_lines_becomes_a_note_that_quotes_them(
    client: httpx.AsyncClient, asking: str, store: Store
) -> None:
    body = {"lap": 1, "file": "cart.py", "first": 3, "last": 4, "text": "Round half up.", "quoted": "+a\n+b"}
    assert (await client.post(f"/api/v1/runs/{asking}/comment", json=body)).status_code == 200

    state = fold(await journal(store, asking).events())
    assert state is not None
    assert [(note.by, note.text) for note in state.notes] == [
        ("ann", "About cart.py, lines 3-4 (lap 1):\n> +a\n> +b\nRound half up.")
    ]


async def test_a_repeated_request_does_nothing_twice(
    client: httpx.AsyncClient, asking: str, store: Store
) -> None:
    key = {"idempotency-key": "k1"}
    for _ in range(3):
        answer = await client.post(f"/api/v1/runs/{asking}/steer", json={"note": "once"}, headers=key)
        assert answer.status_code == 200
    other = await client.post(f"/api/v1/runs/{asking}/steer", json={"note": "other"}, headers=key)

    state = fold(await journal(store, asking).events())
    assert state is not None
    assert [note.text for note in state.notes] == ["once"]
    assert other.status_code == 422


async def test_a_read_only_server_changes_nothing(asking: str, store: Store) -> None:
    runs = Runs(store)
    service = Service(runs=runs, hubs=Hubs(), changes=ChangedRuns(runs), mcp=McpMount(), read_only=True)
    app = application(at_once(service), hosts={HOST}, token=TOKEN, me="ann")
    transport = httpx.ASGITransport(app=app)
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}", headers=headers) as client:
        for operation in (each for each in TABLE if each.changes):
            answer = await client.post(operation.path.format(run=asking), json={})
            assert answer.status_code == 403, operation.name
        assert (await client.get("/api/v1/version")).json()["read_only"] is True


async def test_events_are_replayed_from_any_position(client: httpx.AsyncClient, green: str) -> None:
    whole = messages((await client.get(f"/api/v1/runs/{green}/events")).text)
    rest = messages((await client.get(f"/api/v1/runs/{green}/events", headers={"last-event-id": "5"})).text)

    assert [each["id"] for each in whole[:-1]] == [str(number) for number in range(1, len(whole))]
    assert whole[-1]["event"] == "end"
    assert rest == whole[5:]
    bad = await client.get(f"/api/v1/runs/{green}/events", headers={"last-event-id": "x"})
    assert bad.status_code == 400


def test_the_api_names_the_license_of_the_package() -> None:
    project = tomllib.loads(Path(__file__).parents[3].joinpath("pyproject.toml").read_text())["project"]

    assert document()["info"]["license"]["identifier"] == project["license"]


@pytest.mark.parametrize(
    ("form", "begin"), [("html", "<!DOCTYPE html>"), ("md", "# `Fix the cart`"), ("junit", "<?xml")]
)
async def test_reports_are_files(client: httpx.AsyncClient, green: str, form: str, begin: str) -> None:
    answer = await client.get(f"/api/v1/runs/{green}/report", params={"format": form})

    (operation,) = (each for each in TABLE if each.name == "report")
    media = answer.headers["content-type"].partition(";")[0]
    assert media in document()["paths"][operation.path]["get"]["responses"]["200"]["content"]
    assert answer.text.startswith(begin)
    assert ("attachment" in answer.headers.get("content-disposition", "")) == (form == "html")


async def test_runs_are_compared(client: httpx.AsyncClient, green: str, asking: str) -> None:
    answer = (await client.get("/api/v1/compare", params={"runs": f"{green},{asking}"})).json()

    assert [each["summary"]["run"] for each in answer["runs"]] == [green, asking]
    assert answer["runs"][0]["course"]["score"][-1] == 1.0


async def test_a_damaged_journal_is_listed_and_refused_with_the_reason(
    client: httpx.AsyncClient, green: str, store: Store
) -> None:
    path = journal(store, green).path
    path.write_text(path.read_text().replace("converged", "accepted"))

    (row,) = (await client.get("/api/v1/runs")).json()["runs"]
    assert (row["status"], row["cost"], row["tokens"]) == ("damaged", None, None)
    assert (await client.get(f"/api/v1/runs/{green}")).status_code == 409


async def test_metrics_count_runs(client: httpx.AsyncClient, green: str, asking: str) -> None:
    text = (await client.get("/api/v1/metrics")).text

    assert "untilgreen_runs 2\n" in text
    assert "untilgreen_runs_waiting 1\n" in text


def journal(store: Store, run: str) -> FileJournal:
    return FileJournal(store.find(run, store.state_dir).journal)


def messages(text: str) -> list[dict[str, str]]:
    blocks = [block for block in text.split("\n\n") if block.strip() and not block.startswith(":")]
    return [dict(line.split(": ", 1) for line in block.splitlines()) for block in blocks]


def test_every_operation_has_a_handler_and_a_documented_answer() -> None:
    assert len({operation.name for operation in TABLE}) == len(TABLE)
    for operation in TABLE:
        module = import_module(f"untilgreen.surfaces.web.handlers.{operation.module}")
        assert callable(getattr(module, operation.name))
    for operation in TABLE:
        assert msgspec.json.schema_components([ANSWERS[operation.answer]])


async def test_own_runs_are_replayed_with_other_strategies(client: httpx.AsyncClient, green: str) -> None:
    found = (await client.get("/api/v1/backtest", params={"strategies": "fixed"})).json()
    usual = (await client.get("/api/v1/backtest")).json()
    early = {"strategies": '{ use = "fixed", iterations = 1 }'}
    lost = (await client.get("/api/v1/backtest", params=early)).json()

    assert (found["runs"], [each["row"]["strategy"] for each in found["strategies"]]) == (1, ["fixed"])
    assert [each["row"]["strategy"] for each in usual["strategies"]][:2] == [
        "fixed iterations=3",
        "fixed iterations=5",
    ]
    assert lost["strategies"][0]["lost"] == 1.0
    assert lost["different"][0]["replayed"]["run"] == green


@pytest.mark.parametrize(
    "strategies", ["./evil.py:Strategy", "os:system", '{ use = "./x.py:Y" }', "[", "a;b;c;d;e;f;g;h;i"]
)
async def test_no_request_names_code(client: httpx.AsyncClient, green: str, strategies: str) -> None:
    answer = await client.get("/api/v1/backtest", params={"strategies": strategies})

    assert answer.status_code in (400, 409)
    assert answer.json()["detail"]


async def test_what_is_installed_and_what_a_spec_can_name(client: httpx.AsyncClient) -> None:
    plugins = (await client.get("/api/v1/plugins")).json()["plugins"]
    rows = (await client.get("/api/v1/doctor")).json()["rows"]

    assert {"kind": "strategy", "name": "hybrid"}.items() <= next(
        each for each in plugins if each["name"] == "hybrid"
    ).items()
    assert {"git", "sandbox"} <= {row["name"] for row in rows}


async def test_files_are_only_touched_within_the_roots(client: httpx.AsyncClient, green: str) -> None:
    for verb, body in (("restore", {"lap": 1}), ("apply", {})):
        answer = await client.post(f"/api/v1/runs/{green}/{verb}", json=body)
        assert (answer.status_code, answer.json()["title"]) == (403, "Refused")


async def test_a_server_without_a_fleet_says_so(client: httpx.AsyncClient) -> None:
    version = await client.get("/api/v1/version")
    answer = await client.get("/api/v1/fleet")

    assert version.json()["fleet"] is False
    assert answer.status_code == 404
    assert answer.json()["detail"] == ("This server has no fleet. Set UNTILGREEN_FLEET and start it again.")


async def test_a_fleet_that_does_not_answer_is_a_clear_error(store: Store) -> None:
    async with opened(store.state_dir, fleet="postgresql://nobody@127.0.0.1:1/none") as service:
        app = application(at_once(service), hosts={HOST}, token=TOKEN, me="ann")
        transport = httpx.ASGITransport(app=app)
        headers = {"authorization": f"Bearer {TOKEN}"}
        async with httpx.AsyncClient(
            transport=transport, base_url=f"http://{HOST}", headers=headers
        ) as client:
            version = await client.get("/api/v1/version")
            answer = await client.get("/api/v1/fleet")

    assert version.json()["fleet"] is True
    assert answer.status_code == 409
    assert answer.json()["detail"].endswith((".", "untilgreen[fleet]'"))


async def test_what_a_server_learned_of_a_run_the_next_one_knows_without_reading_it(
    store: Store, green: str
) -> None:
    journal = store.record(green).journal
    os.utime(journal, (1_790_000_000, 1_790_000_000))
    await Runs(store).learn()
    journal.write_bytes(b"x" * journal.stat().st_size)  # now it can't be read
    os.utime(journal, (1_790_000_000, 1_790_000_000))

    (listed,) = await Runs(Store(store.state_dir)).listed_all([green])

    assert isinstance(listed, ListedRun)
    assert (listed.row.status, listed.row.laps, listed.running) == ("converged", 3, False)


async def test_a_gate_whose_name_has_slashes_shows_what_it_printed(
    client: httpx.AsyncClient, store: Store, tmp_path: Path
) -> None:
    name = "./check.sh --in a/b"
    run = Run(gate(name), agents=(PartSpec(name="claude"),), task="Fix it")
    run.lap(Turn(), **{name: PASS})
    run.end()
    folder = store.create(1_790_000_000.0, workspace=tmp_path, title="Fix it")
    journal = FileJournal(folder.journal)
    first, *rest = run.events
    assert isinstance(first, RunStarted)
    for event in (replace(first, run=folder.id), *rest):
        await journal.append(event)

    answer = await client.get(f"/api/v1/runs/{folder.id}/laps/1/output/{quote(name, safe='')}")
    elsewhere = await client.get(
        f"/api/v1/runs/{folder.id}/laps/1/output/{quote('../../meta.json', safe='')}"
    )

    assert answer.status_code == 200
    assert elsewhere.status_code == 404


async def test_runs_are_not_started_faster_than_anybody_would(store: Store) -> None:
    async with opened(store.state_dir) as service:
        person = Person(name="ann", role="admin")
        call = Call(service=service, person=person, path={}, query=Nothing(), body=None, last_event_id="")
        for _ in range(STARTS_A_MINUTE):
            await check_room(call)
        with pytest.raises(Refusal, match="20 runs were started within a minute"):
            await check_room(call)
        service.starts[0] -= 61
        await check_room(call)
