"""Secrets are cut out of whatever is written down, in whatever form and in however many pieces they come."""

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untilgreen.core.secrets import LONGEST, Secrets, Strainer, references, unveil

PASSWORD = 'p@ss "w\\örd!'
VARIABLES = {"API_TOKEN": "hunter2-hunter2", "DB_PASSWORD": PASSWORD}
SECRETS = Secrets({**VARIABLES, "HOME": "/home/somebody", "SHORT_KEY": "1234567"})
KEY_BLOCK = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nAAAA\n-----END RSA PRIVATE KEY-----"
# In pieces, so that nobody takes this file for one that leaks.
TOKENS = [
    "sk-" + "ant-api03-aB3dEfGhIjKlMnOpQrStUv",
    "sk_" + "live_4eC39HqLyjWDarjtT1zdp7dc",
    "ghp" + "_16C7e42F292c6912E7710c838347Ae178B4a",
    "github" + "_pat_11ABCDEFG0abcdefghijkl",
    "glpat" + "-ABCDEFGHIJKLMNOPQRST",
    "xoxb" + "-123456789012-abcdefghij",
    "AKIA" + "IOSFODNN7EXAMPLE",
    "AIza" + "SyA1234567890abcdefghijklmnopqrstuvw",
    "npm" + "_abcdefghijklmnopqrstuvwxyz0123456789",
    "pypi" + "-AgEIcHlwaS5vcmcCJ" + "a" * 40,
    "hf" + "_abcdefghijklmnopqrstuvwxyzABCDEF",
    "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w",
    KEY_BLOCK,
]


@pytest.mark.parametrize(
    "form",
    [
        "hunter2-hunter2",
        PASSWORD,
        json.dumps(PASSWORD, ensure_ascii=False)[1:-1],
        quote(PASSWORD, safe=""),
        f"https://user:{quote(PASSWORD, safe='')}@host",
    ],
)
def test_the_value_of_a_variable_whose_name_says_so_is_cut_out(form: str) -> None:
    cut = SECRETS.cut(f"before {form} after")

    assert form not in cut
    assert "was cut out" in cut
    assert cut.startswith("before ")
    assert cut.endswith(" after")


@pytest.mark.parametrize("before", ["", "a", "ab", "abc", "user:"])
def test_base64_hides_nothing(before: str) -> None:
    hidden = base64.b64encode(f"{before}hunter2-hunter2:rest".encode()).decode()

    assert b"hunter2-hunt" not in base64.b64decode(SECRETS.cut(hidden).split("[")[0] + "====")
    assert "[API_TOKEN was cut out]" in SECRETS.cut(hidden)


@pytest.mark.parametrize("token", TOKENS)
def test_a_token_that_shows_what_it_is_is_cut_out(token: str) -> None:
    assert SECRETS.cut(f"see {token}, there") == "see [a token was cut out], there"


@pytest.mark.parametrize(
    "text",
    [
        "/home/somebody",
        "1234567",
        "risk-based-assessment-of-1234567890-things",
        "sk-loading-indicator-of-some-length",
        "the night through high walls",
        "eyJ is how they begin",
        "-----BEGIN CERTIFICATE-----",
        "\ud800 half a character",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert SECRETS.cut(text) is text


@given(st.data())
def test_a_secret_in_pieces_is_cut_out_like_a_whole_one(data: st.DataObject) -> None:
    pieces = st.sampled_from(
        ["hunter2-hunter2", PASSWORD, *TOKENS, "hunter2", " ", "\n", "word", "-----", "ö"]
    )
    raw = " ".join(data.draw(st.lists(pieces, max_size=8))).encode()
    places = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=8)))
    strainer = Strainer(SECRETS)
    chunks = [raw[start:end] for start, end in zip([0, *places], [*places, len(raw)], strict=True)]

    assert b"".join(map(strainer.take, chunks)) + strainer.close() == SECRETS.cut_bytes(raw)


@pytest.mark.parametrize("end", [b"", b", there", b"-----"])
@pytest.mark.parametrize("secret", ["hunter2-hunter2", PASSWORD, *TOKENS])
def test_a_secret_in_two_pieces_is_cut_out_wherever_it_was_cut(secret: str, end: bytes) -> None:
    raw = b"see -----" + secret.encode() + end
    for place in range(len(raw)):
        strainer = Strainer(SECRETS)
        passed = strainer.take(raw[:place]) + strainer.take(raw[place:]) + strainer.close()

        assert passed == SECRETS.cut_bytes(raw)


@pytest.mark.parametrize("token", ["hunter2-hunter2", TOKENS[0]])
@pytest.mark.parametrize("back", [0, 5, 200])
def test_an_endless_line_is_passed_on_and_nothing_in_it_slips_through(token: str, back: int) -> None:
    strainer = Strainer(SECRETS)
    raw = b"a" * (3 * LONGEST) + b"=" + token.encode() + b"=" + b"b" * (LONGEST - back) + b"c" * back
    passed = b"".join(strainer.take(raw[start : start + 700]) for start in range(0, len(raw), 700))

    assert len(passed) > LONGEST
    assert token.encode() not in passed + strainer.close()


@pytest.mark.parametrize("first", ["A_TOKEN", "Z_TOKEN"])
def test_of_a_secret_that_begins_with_another_one_nothing_is_left(first: str) -> None:
    secrets = Secrets({first: "hunter2-hunter2", "M_TOKEN": "hunter2-hunter2-and-more"})

    assert secrets.cut("hunter2-hunter2-and-more") == "[M_TOKEN was cut out]"
    assert secrets.name("hunter2-hunter2-and-more") == "${M_TOKEN}"


def test_a_secret_that_ends_as_it_begins_is_not_cut_in_two() -> None:
    secrets = Secrets({"MY_PASSWORD": "!a! secret !a!"})
    strainer = Strainer(secrets)

    passed = strainer.take(b"it is !a! secret !a!") + strainer.take(b", see") + strainer.close()

    assert passed == b"it is [MY_PASSWORD was cut out], see"


def test_a_value_that_is_no_text_is_a_secret_too() -> None:
    value = b"caf\xe9-caf\xe9"

    cut = Secrets({"MY_PASSWORD": value.decode("utf-8", "surrogateescape")}).cut_bytes(b"it is " + value)

    assert cut == b"it is [MY_PASSWORD was cut out]"


def test_a_private_key_whose_end_is_missing_is_cut_out() -> None:
    begun = KEY_BLOCK.partition("AAAA")[0]

    assert SECRETS.cut(f"see {begun}") == "see [a token was cut out]"


def test_ordinary_lines_are_not_held_back() -> None:
    assert Strainer(SECRETS).take(b"one line\n") == b"one line\n"


def test_a_value_in_a_spec_becomes_the_name_of_its_variable_and_comes_back() -> None:
    written = f"curl -H 'X: hunter2-hunter2' -u me:{PASSWORD} $HOME ${{HOME}}"
    veiled = SECRETS.veil(written)

    assert veiled == "curl -H 'X: ${API_TOKEN}' -u me:${DB_PASSWORD} $HOME ${HOME}"
    assert unveil(veiled, {**VARIABLES, "HOME": "no"}) == written
    assert unveil("${API_TOKEN}", {}) == "${API_TOKEN}"


def test_the_secret_variables_that_a_text_names_are_told_apart_from_others() -> None:
    assert references("a ${API_TOKEN} $API_KEY ${HOME} ${DB_PASSWORD}${api_key}") == [
        "API_TOKEN",
        "DB_PASSWORD",
        "api_key",
    ]
