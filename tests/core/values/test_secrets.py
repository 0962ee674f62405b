"""Secrets are cut out of everything that is written down, however they are encoded or split."""

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untilgreen.core.values.secrets import LONGEST, Secrets, Strainer, references, reinsert

PASSWORD = 'p@ss "w\\örd!'
VARIABLES = {"API_TOKEN": "hunter2-hunter2", "DB_PASSWORD": PASSWORD}
SECRETS = Secrets({**VARIABLES, "HOME": "/home/somebody", "SHORT_KEY": "1234567"})
KEY_BLOCK = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nAAAA\n-----END RSA PRIVATE KEY-----"
# Split, so that secret scanners don't report this file.
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
    cut = SECRETS.redact(f"before {form} after")

    assert form not in cut
    assert "redacted]" in cut
    assert cut.startswith("before ")
    assert cut.endswith(" after")


@pytest.mark.parametrize("word", ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL", "credential"])
def test_every_name_that_says_so_is_a_secrets_from_eight_characters_on(word: str) -> None:
    secrets = Secrets({f"MY_{word}S": "12345678", f"{word}_OF_MINE": "7654321"})

    assert secrets.redact("12345678 7654321") == f"[MY_{word}S redacted] 7654321"


@pytest.mark.parametrize("before", ["", "a", "ab", "abc", "user:"])
def test_base64_hides_nothing(before: str) -> None:
    hidden = base64.b64encode(f"{before}hunter2-hunter2:rest".encode()).decode()

    assert b"hunter2-hunt" not in base64.b64decode(SECRETS.redact(hidden).split("[")[0] + "====")
    assert "[API_TOKEN redacted]" in SECRETS.redact(hidden)


@pytest.mark.parametrize("token", TOKENS)
def test_a_token_that_shows_what_it_is_is_cut_out(token: str) -> None:
    assert SECRETS.redact(f"see {token}, there") == "see [token redacted], there"


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
def test_text_that_is_not_a_secret_stays(text: str) -> None:
    assert SECRETS.redact(text) is text


@given(st.data())
def test_a_secret_in_pieces_is_cut_out_like_a_whole_one(data: st.DataObject) -> None:
    pieces = st.sampled_from(
        ["hunter2-hunter2", PASSWORD, *TOKENS, "hunter2", " ", "\n", "word", "-----", "ö"]
    )
    raw = " ".join(data.draw(st.lists(pieces, max_size=8))).encode()
    places = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=8)))
    strainer = Strainer(SECRETS)
    chunks = [raw[start:end] for start, end in zip([0, *places], [*places, len(raw)], strict=True)]

    assert b"".join(map(strainer.take, chunks)) + strainer.close() == SECRETS.redact_bytes(raw)


@pytest.mark.parametrize("end", [b"", b", there", b"-----"])
@pytest.mark.parametrize("secret", ["hunter2-hunter2", PASSWORD, quote(PASSWORD, safe=""), *TOKENS])
def test_a_secret_in_two_pieces_is_cut_out_wherever_it_was_cut(secret: str, end: bytes) -> None:
    raw = b"see -----" + secret.encode() + end
    for place in range(len(raw)):
        strainer = Strainer(SECRETS)
        passed = strainer.take(raw[:place]) + strainer.take(raw[place:]) + strainer.close()

        assert passed == SECRETS.redact_bytes(raw)


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

    assert secrets.redact("hunter2-hunter2-and-more") == "[M_TOKEN redacted]"
    assert secrets.to_references("hunter2-hunter2-and-more") == "${M_TOKEN}"


def test_a_secret_that_ends_as_it_begins_is_not_cut_in_two() -> None:
    secrets = Secrets({"MY_PASSWORD": "!a! secret !a!"})
    strainer = Strainer(secrets)

    passed = strainer.take(b"it is !a! secret !a!") + strainer.take(b", see") + strainer.close()

    assert passed == b"it is [MY_PASSWORD redacted], see"


def test_a_value_that_is_not_text_is_a_secret_too() -> None:
    value = b"caf\xe9-caf\xe9"

    cut = Secrets({"MY_PASSWORD": value.decode("utf-8", "surrogateescape")}).redact_bytes(b"it is " + value)

    assert cut == b"it is [MY_PASSWORD redacted]"


def test_a_private_key_whose_end_is_missing_is_cut_out() -> None:
    begun = KEY_BLOCK.partition("AAAA")[0]

    assert SECRETS.redact(f"see {begun}") == "see [token redacted]"


def test_ordinary_lines_are_not_held_back() -> None:
    assert Strainer(SECRETS).take(b"one line\n") == b"one line\n"


def test_a_value_in_a_spec_becomes_the_name_of_its_variable_and_comes_back() -> None:
    written = f"curl -H 'X: hunter2-hunter2' -u me:{PASSWORD} $HOME ${{HOME}}"
    redacted = SECRETS.redact_to_references(written)

    assert redacted == "curl -H 'X: ${API_TOKEN}' -u me:${DB_PASSWORD} $HOME ${HOME}"
    assert reinsert(redacted, {**VARIABLES, "HOME": "no"}) == written
    assert reinsert("${API_TOKEN}", {}) == "${API_TOKEN}"


def test_the_secret_variables_that_a_text_names_are_told_apart_from_others() -> None:
    assert references("a ${API_TOKEN} $API_KEY ${HOME} ${DB_PASSWORD}${api_key}") == [
        "API_TOKEN",
        "DB_PASSWORD",
        "api_key",
    ]


TRICKY = "p&ss<w>\"o'rd/1 é"
SPELLINGS = [
    r"p\u0026ss\u003cw\u003e\"o'rd/1 é",
    r"p\u0026ss\u003Cw\u003E\u0022o\u0027rd\/1 \u00e9",
    "p%26ss%3cw%3e%22o%27rd%2f1%20%c3%a9",
    "p%26ss%3Cw%3E%22o'rd/1%20%C3%A9",
    "p&amp;ss&lt;w&gt;&quot;o&apos;rd/1 é",
    "p&#38;ss&#x3C;w&#x3e;&#34;o&#039;rd/1 &#233;",
    "".join(f"%{byte:02x}" for byte in TRICKY.encode()),
    "".join(f"&#{ord(char)};" for char in TRICKY),
    "".join(rf"\u{ord(char):04x}" for char in TRICKY),
]


@pytest.mark.parametrize("spelled", SPELLINGS)
def test_no_spelling_hides_a_secret(spelled: str) -> None:
    secrets = Secrets({"DB_PASSWORD": TRICKY})

    assert secrets.redact(f"before {spelled} after\n") == "before [DB_PASSWORD redacted] after\n"


@pytest.mark.parametrize("spelled", [each for each in SPELLINGS if " " not in each])
@pytest.mark.parametrize("size", [1, 3, 7])
def test_no_spelling_hides_a_secret_that_comes_in_pieces(spelled: str, size: int) -> None:
    secrets = Secrets({"DB_PASSWORD": TRICKY})

    assert _strained(secrets, f"before {spelled} after\n", size) == "before [DB_PASSWORD redacted] after\n"


@pytest.mark.parametrize("width", [16, 60, 64, 76])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\n  ", "\\n"])
def test_base64_over_several_lines_hides_nothing(width: int, newline: str) -> None:
    value = "correct-horse-battery-staple-" * 5
    whole = base64.b64encode(f'{{"user": "me", "key": "{value}"}}'.encode()).decode()
    text = newline.join(whole[at : at + width] for at in range(0, len(whole), width))
    secrets = Secrets({"API_KEY": value})
    inner = base64.b64encode(value.encode()).decode()[8:24]

    for clean in (secrets.redact(f"{text}\n"), _strained(secrets, f"{text}\n", 50)):
        assert "[API_KEY redacted]" in clean
        assert inner not in clean.replace(newline, "").replace("\n", "")


def _strained(secrets: Secrets, text: str, size: int) -> str:
    strainer, raw = Strainer(secrets), text.encode()
    pieces = [strainer.take(raw[at : at + size]) for at in range(0, len(raw), size)]
    return b"".join([*pieces, strainer.close()]).decode()
