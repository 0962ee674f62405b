"""Failures are classified by the words and status codes that agents use."""

import pytest

from untilgreen.agents.kit.error_classes import cause_of, status_in


@pytest.mark.parametrize(
    ("status", "words", "error"),
    [
        (401, "", "auth"),
        (403, "forbidden", "auth"),
        (429, "slow down", "rate_limited"),
        (429, "You exceeded your current quota, please check your plan and billing details.", "quota"),
        (402, "", "quota"),
        (529, "overloaded_error", "rate_limited"),
        (503, "", "rate_limited"),
        (500, "scripted: internal server error", "network"),
        (502, "", "network"),
        (404, "model: claude-nope", None),
        (400, "prompt is too long", None),
        (None, "Invalid API key · Please run /login", "auth"),
        (None, "unexpected status 401 Unauthorized: scripted: invalid x-api-key", "auth"),
        (None, "API Error: 401 OAuth token has expired", "auth"),
        (None, "Please set an Auth method in your settings.json", "auth"),
        (None, "API key not valid. Please pass a valid API key.", "auth"),
        (None, "Claude usage limit reached. Your limit will reset at 7pm", "quota"),
        (None, "You've hit your limit · resets 3am", "quota"),
        (None, "You've hit your usage limit. Try again in 3 hours.", "quota"),
        (None, "Your credit balance is too low to access the API.", "quota"),
        (None, "exceeded retry limit, last status: 429 Too Many Requests", "rate_limited"),
        (None, "We’re currently experiencing high demand, which may cause temporary errors.", "rate_limited"),
        (None, "RESOURCE_EXHAUSTED", "rate_limited"),
        (None, "stream disconnected before completion: Transport error", "network"),
        (None, "API Error: Connection dropped (ECONNRESET).", "network"),
        (None, "TypeError: fetch failed", "network"),
        (None, "error decoding response body: error reading a body from connection", "network"),
        (None, "sh: 1: Syntax error: unexpected EOF while looking for matching quote", None),
        (None, "[API Error: terminated]", "network"),
        (None, "Cannot connect to API: The socket connection was closed unexpectedly.", "network"),
        (None, "The API provider is not able to authenticate you. Check your API key.", "auth"),
        (None, "panicked at src/main.rs:1", None),
        (None, "at retry (bundle.js:500:24)", None),
        (None, "", None),
    ],
)
def test_a_failure_has_its_class(status: int | None, words: str, error: str | None) -> None:
    assert cause_of(words, status) == error


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("unexpected status 401 Unauthorized", 401),
        ("last status: 429 Too Many Requests", 429),
        ("API Error: 500 scripted", 500),
        ("Error code: 529 - {}", 529),
        ("error in line 404", None),
        ("took 500 ms", None),
    ],
)
def test_a_status_is_read_from_words_that_name_it(words: str, status: int | None) -> None:
    assert status_in(words) == status
