"""People whom a proxy vouches for: only from a named peer with the secret, and never beyond their role."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import httpx
import pytest

from tests.surfaces.web.helpers import HOST, TOKEN, at_once
from untilgreen.core.loop.fold import fold
from untilgreen.engine.store.runs import Store
from untilgreen.errors import UserError
from untilgreen.journal.file import FileJournal
from untilgreen.surfaces.web.api.operations import TABLE
from untilgreen.surfaces.web.application import application
from untilgreen.surfaces.web.backend import opened
from untilgreen.surfaces.web.people import Person, Proxy, read_proxy

SECRET = "s" * 32
PROXY = Proxy(
    peers=("10.0.0.5",),
    secret=SECRET,
    roles={"admin": ("ann",), "operator": ("bob",), "viewer": ("*",)},
)
From = Callable[..., httpx.AsyncClient]


@pytest.fixture
async def from_(store: Store) -> AsyncIterator[From]:
    """Makes a client at an address, with these headers."""
    clients: list[httpx.AsyncClient] = []
    async with opened(store.state_dir) as service:
        app = application(at_once(service), hosts={HOST}, token=TOKEN, me="owner", proxy=PROXY)

        def asking(address: str, **headers: str) -> httpx.AsyncClient:
            transport = httpx.ASGITransport(app=app, client=(address, 1))
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            clients.append(httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}", headers=named))
            return clients[-1]

        yield asking
        for each in clients:
            await each.aclose()


async def test_only_the_named_peer_with_the_secret_is_believed(from_: From) -> None:
    named = {"x_forwarded_user": "ann", "x_untilgreen_secret": SECRET}
    for address, headers, status in (
        ("10.0.0.5", named, 200),
        ("::ffff:10.0.0.5", named, 200),
        ("10.0.0.6", named, 401),
        ("127.0.0.1", named, 401),
        ("10.0.0.5", {**named, "x_untilgreen_secret": "s" * 31 + "t"}, 401),
        ("10.0.0.5", {"x_forwarded_user": "ann"}, 401),
        ("10.0.0.5", {"x_untilgreen_secret": SECRET}, 401),
        ("10.0.0.5", {**named, "x_forwarded_user": "a" * 201}, 401),
        ("10.0.0.5", {**named, "x_forwarded_user": "ann\tbob"}, 401),
    ):
        assert (await from_(address, **headers).get("/api/v1/runs")).status_code == status, (address, headers)


async def test_a_name_that_is_sent_twice_is_refused(from_: From) -> None:
    client = from_("10.0.0.5", x_untilgreen_secret=SECRET)
    twice = [("x-forwarded-user", "ann"), ("x-forwarded-user", "eve")]

    assert (await client.get("/api/v1/runs", headers=twice)).status_code == 401


async def test_a_role_permits_its_own_requests_and_no_more(from_: From, asking: str, store: Store) -> None:
    clients = {
        name: from_("10.0.0.5", x_forwarded_user=name, x_untilgreen_secret=SECRET)
        for name in ("ann", "bob", "eve")
    }
    note, new = {"note": "look"}, {"workspace": ""}
    allowed = {
        name: (
            (await client.get("/api/v1/version")).json()["person"]["role"],
            (await client.post(f"/api/v1/runs/{asking}/steer", json=note)).status_code,
            (await client.post("/api/v1/plan", json=new)).json()["title"],
        )
        for name, client in clients.items()
    }

    # A plan that the role permits is refused for another reason: this server has no roots.
    assert allowed == {
        "ann": ("admin", 200, "Refused"),
        "bob": ("operator", 200, "Not allowed"),
        "eve": ("viewer", 403, "Not allowed"),
    }
    state = fold(await FileJournal(store.record(asking).journal).events())
    assert state is not None
    assert {note.by for note in state.notes} == {"ann", "bob"}


def test_a_role_includes_the_lower_ones_and_only_changes_need_more_than_a_viewer() -> None:
    bob = Person(name="bob", role="operator")

    assert (bob.may("viewer"), bob.may("operator"), bob.may("admin")) == (True, True, False)
    assert all((operation.role != "viewer") == operation.changes for operation in TABLE)


@pytest.mark.parametrize(
    ("text", "mode", "said"),
    [
        (f'peers = ["127.0.0.1"]\nsecret = "{SECRET}"\n', 0o644, "others can read it. Run `chmod 600"),
        ('peers = ["127.0.0.1"]\nsecret = "short"\n', 0o600, "Make one: openssl rand -hex 32"),
        (f'peers = ["proxy.local"]\nsecret = "{SECRET}"\n', 0o600, "addresses such as 127.0.0.1"),
        ('peers = ["127.0.0.1"]\n', 0o600, "missing required field `secret`"),
        (
            f'peers = ["127.0.0.1"]\nsecret = "{SECRET}"\n[roles]\nowner = ["x"]\n',
            0o600,
            "Invalid enum value 'owner'",
        ),
        ("peers = [", 0o600, "is not valid for"),
    ],
)
def test_a_file_that_can_not_be_used_says_why(tmp_path: Path, text: str, mode: int, said: str) -> None:
    path = tmp_path / "proxy.toml"
    path.write_text(text)
    path.chmod(mode)

    with pytest.raises(UserError, match="proxy") as told:
        read_proxy(path)
    assert said in str(told.value)
