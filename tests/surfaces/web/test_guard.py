"""Other sites, other host names and strangers get nothing. One test for each line of the checklist."""

from collections.abc import AsyncIterator

import httpx
import pytest

from tests.surfaces.web.helpers import HOST, TOKEN

JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"authorization": "Bearer wrong"}, 401),
        ({"authorization": f"Basic {TOKEN}"}, 401),
        ({"authorization": TOKEN}, 401),
        ({"authorization": f"Bearer {TOKEN}"}, 200),
    ],
)
async def test_the_api_answers_only_to_the_token(
    anonymous: httpx.AsyncClient, headers: dict[str, str], status: int
) -> None:
    answer = await anonymous.get("/api/v1/runs", headers=headers)

    assert answer.status_code == status
    if status == 401:
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["detail"].endswith("Open the address that `untilgreen serve` printed.")


@pytest.mark.parametrize(
    "host", ["evil.example:7878", "127.0.0.1", "127.0.0.1:80", "localhost.evil.example:7878", ""]
)
@pytest.mark.parametrize("path", ["/", "/assets/app.js", "/api/v1/runs"])
async def test_a_rebound_name_is_not_served(client: httpx.AsyncClient, host: str, path: str) -> None:
    assert (await client.get(path, headers={"host": host})).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},
    ],
)
async def test_another_site_or_port_can_not_call_the_api_even_with_the_token(
    client: httpx.AsyncClient, green: str, headers: dict[str, str]
) -> None:
    for method, path in (("GET", "/api/v1/runs"), ("POST", f"/api/v1/runs/{green}/steer")):
        answer = await client.request(method, path, headers={**JSON, **headers}, json={"note": "x"})
        assert answer.status_code == 403
        assert "access-control-allow-origin" not in answer.headers


async def test_our_own_page_may_call_it_and_a_link_from_elsewhere_may_open_the_page(
    client: httpx.AsyncClient,
) -> None:
    ours = {"origin": f"http://{HOST}", "sec-fetch-site": "same-origin"}
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}

    assert (await client.get("/api/v1/runs", headers=ours)).status_code == 200
    assert (await client.get("/", headers=link)).status_code == 200


@pytest.mark.parametrize("query", [f"token={TOKEN}", f"access_token={TOKEN}", f"x=1&Token={TOKEN}"])
async def test_a_token_in_the_address_is_refused(anonymous: httpx.AsyncClient, query: str) -> None:
    for path in ("/", "/api/v1/runs"):
        assert (await anonymous.get(f"{path}?{query}")).status_code == 400


@pytest.mark.parametrize(
    ("headers", "content", "status"),
    [
        ({"content-type": "text/plain"}, b'{"note": "x"}', 415),
        ({"content-type": "application/x-www-form-urlencoded"}, b"note=x", 415),
        ({}, b'{"note": "x"}', 415),
        (JSON, b"x" * 1_000_001, 413),
        (JSON, b"{", 400),
        (JSON, b'{"note": 1}', 400),
        (JSON, b'{"note": "x", "more": 1}', 400),
        (JSON, b"[" * 100_000, 400),
        (JSON, b"\xff", 400),
    ],
)
async def test_only_small_json_of_the_right_shape_is_read(
    client: httpx.AsyncClient, asking: str, headers: dict[str, str], content: bytes, status: int
) -> None:
    answer = await client.post(f"/api/v1/runs/{asking}/steer", headers=headers, content=content)

    assert answer.status_code == status
    assert answer.json()["status"] == status


async def test_a_body_without_a_length_is_refused(client: httpx.AsyncClient, asking: str) -> None:
    async def endless() -> AsyncIterator[bytes]:
        yield b"{"

    answer = await client.post(f"/api/v1/runs/{asking}/steer", headers=JSON, content=endless())

    assert answer.status_code == 411


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
async def test_other_methods_do_nothing(client: httpx.AsyncClient, green: str, method: str) -> None:
    assert (await client.request(method, f"/api/v1/runs/{green}")).status_code == 405


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/runs/..%2f..%2fetc",
        "/api/v1/runs/%2e%2e",
        "/api/v1/runs/@last",
        "/api/v1/runs/{green}/laps/1/output/..%2f..%2fjournal.jsonl",
        "/api/v1/runs/{green}/laps/1/output/tests%2f..",
        "/api/v1/runs/{green}/laps/-1",
        "/api/v1/runs/{green}/laps/1e9",
        "/api/v1/runs/{green}/laps/٣",
        "/assets/..%2fserver.py",
        "/assets/../server.py",
        "/assets//etc/passwd",
        "/assets/index.html",
    ],
)
async def test_no_request_names_a_path(client: httpx.AsyncClient, green: str, path: str) -> None:
    answer = await client.get(path.format(green=green))

    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


async def test_the_page_runs_only_its_own_scripts_and_is_never_framed(anonymous: httpx.AsyncClient) -> None:
    answer = await anonymous.get("/")

    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self' 'sha256-")
    for part in ("frame-ancestors 'none'", "require-trusted-types-for 'script'", "base-uri 'none'"):
        assert part in policy
    assert "unsafe" not in policy
    assert TOKEN not in answer.text


async def test_every_answer_has_the_headers_that_keep_it_where_it_is(client: httpx.AsyncClient) -> None:
    for path in ("/", "/assets/app.js", "/api/v1/runs", "/api/v1/none"):
        headers = (await client.get(path)).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
        assert "set-cookie" not in headers
        assert "server" not in headers
