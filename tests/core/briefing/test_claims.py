"""Recognizing a claim: the tag in the agent's own last words, never an echo of its brief."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.helpers import Run
from untilgreen.core.briefing.brief import compose
from untilgreen.core.briefing.claims import TOKENS, claimed, tag
from untilgreen.core.strategies.ralph import Ralph
from untilgreen.core.values.model import Finding, Promise, Verdict
from untilgreen.testing import story

DONE = Promise(text="DONE")
TOKEN = Promise(text="DONE", tokens=True)
BRIEF = compose(Run(promise=DONE).state).text
INSTRUCTION = next(line for line in BRIEF.splitlines() if tag(DONE) in line)


@pytest.mark.parametrize(
    "text",
    [
        "<promise>DONE</promise>",
        "All tests pass now.\n\n<promise>DONE</promise>\n",
        "<PROMISE> done </promise>",
        "<promise>\nDONE\n</promise>",
        "Created hello.txt. <promise>DONE</promise>",
        "All is done: <promise>DONE</promise>.",
        "**<promise>DONE</promise>**",
        f"You said: {INSTRUCTION}\n\n<promise>DONE</promise>",
        "```\nold output\n```\n<promise>DONE</promise>",
        "~~~\n```\n~~~\n<promise>DONE</promise>",
        "<promise>DONE</promise>\n\nI also tidied up.",
    ],
)
def test_the_tag_in_the_agents_own_words_is_a_claim(text: str) -> None:
    assert claimed(text, BRIEF, DONE)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ABANDONED",
        "DONE",
        "not DONE yet",
        "I'm not done: <promise>NOT DONE</promise>",
        "promise DONE",
        "<promise>DONE",
        "<promise>DONE IT</promise>",
    ],
)
def test_words_without_the_tag_are_not_a_claim(text: str) -> None:
    assert not claimed(text, BRIEF, DONE)


@pytest.mark.parametrize(
    "text",
    [
        "> <promise>DONE</promise>",
        "  > the user wants\n  > <promise>DONE</promise>\n",
        'The task says "<promise>DONE</promise>"',
        "I will write `<promise>DONE</promise>`",
        "I can not write <promise>DONE</promise> because nothing works yet.",
        "Nothing works, so I can't write <promise>DONE</promise>",
        "When all is green I write <promise>DONE</promise>",
        "<promise>DONE</promise> is what I would say.",
        "I was asked for <promise>DONE</promise> in the end, and there is more to do.",
    ],
)
def test_a_tag_in_a_quote_a_negation_or_amid_a_sentence_is_not_a_claim(text: str) -> None:
    assert not claimed(text, BRIEF, DONE)


@pytest.mark.parametrize(
    "text",
    [
        INSTRUCTION,
        BRIEF,
        f"> {BRIEF}",
        f"My orders are: {INSTRUCTION}",
        "It says: you have checked it, write <promise>DONE</promise> on its own line.",
        "…and you have checked it, write <promise>DONE</promise>",
        f"{INSTRUCTION.lower()}",
    ],
)
def test_an_echo_of_the_instruction_is_not_a_claim(text: str) -> None:
    assert not claimed(text, BRIEF, DONE)


def test_a_tag_among_other_words_of_the_brief_is_not_a_claim() -> None:
    task = "Add a page that shows <promise>DONE</promise> to the visitor"
    brief = compose(Run(promise=DONE, task=task).state).text

    assert not claimed("There is a page that shows <promise>DONE</promise> to the visitor now", brief, DONE)
    assert not claimed(f"The task was: {task}.", brief, DONE)
    assert claimed("The visitor sees it. <promise>DONE</promise>", brief, DONE)


@pytest.mark.parametrize("fence", ["```", "~~~", "````", "  ```"])
@pytest.mark.parametrize("language", ["", "text", " xml"])
@pytest.mark.parametrize("closed", [True, False])
def test_a_tag_in_a_code_fence_is_not_a_claim(fence: str, language: str, closed: bool) -> None:
    text = f"Later I will say:\n{fence}{language}\n<promise>DONE</promise>\n" + (fence if closed else "")

    assert not claimed(text, BRIEF, DONE)


def test_a_fence_is_closed_by_its_own_mark_only() -> None:
    assert not claimed("````\n```\n<promise>DONE</promise>\n````", BRIEF, DONE)
    assert not claimed("~~~\n```\n<promise>DONE</promise>\n~~~", BRIEF, DONE)


@pytest.mark.parametrize("token", sorted(TOKENS))
def test_a_bare_token_counts_where_asked_for_and_only_as_the_whole_last_line(token: str) -> None:
    assert claimed(f"All is well.\n\n  {token}  \n\n", BRIEF, TOKEN)
    assert not claimed(f"All is well.\n{token}", BRIEF, DONE)
    assert not claimed(f"All is well: {token}", BRIEF, TOKEN)
    assert not claimed(f"{token}.", BRIEF, TOKEN)
    assert not claimed(f"{token}\nOne more thing.", BRIEF, TOKEN)
    assert not claimed(f"Like this:\n```\n{token}\n```", BRIEF, TOKEN)


def test_there_are_six_bare_tokens() -> None:
    assert {"TASK_COMPLETE", "TASK_COMPLETED", "DONE", "[COMPLETE]", "[TASK COMPLETE]", "[DONE]"} == TOKENS


def test_where_tokens_count_the_tag_counts_as_well() -> None:
    assert claimed("I am finished.\n<promise>DONE</promise>\nBye.", BRIEF, TOKEN)


@pytest.mark.parametrize("text", ["D.NE", "a+b (c)", "[DONE]", "50% $", "DONE\\b", ".*"])
def test_the_words_of_the_promise_are_literal(text: str) -> None:
    promise = Promise(text=text)
    brief = compose(Run(promise=promise).state).text

    assert claimed(f"Ready.\n{tag(promise)}", brief, promise)
    assert not claimed("Ready.\n<promise>DONE</promise>", brief, promise)


def test_white_space_around_the_words_of_the_promise_does_not_matter() -> None:
    assert claimed("<promise>ALL FIXED</promise>", "", Promise(text="  ALL FIXED "))


def test_a_claim_of_an_earlier_lap_is_not_a_claim_of_this_one() -> None:
    run = story("a* -", Ralph(max=3))

    assert [lap.claim for lap in run.laps] == [True, False, False]
    assert run.outcome == "accepted"


PIECES = st.sampled_from(
    [
        tag(DONE),
        "<promise>done</promise>",
        "DONE",
        "say",
        "the words",
        "```",
        "~~~",
        "`",
        "-",
        "_",
        "# Title",
        "\n",
    ]
)


@given(st.lists(PIECES, min_size=1, max_size=8), st.lists(PIECES, max_size=8), st.data())
def test_no_part_of_a_brief_is_a_claim_when_it_is_repeated(
    task: list[str], output: list[str], data: st.DataObject
) -> None:
    run = Run(promise=DONE, task=" ".join(task))
    run.lap(tests=Verdict(status="fail", findings=(Finding(id=" ".join(output)),), excerpt=" ".join(output)))
    brief = compose(run.state).text
    lines = brief.splitlines()
    start = data.draw(st.integers(0, len(lines) - 1))
    part = "\n".join(lines[start : data.draw(st.integers(start + 1, len(lines)))])

    assert not claimed(part, brief, DONE)


@pytest.mark.parametrize(
    "line",
    [
        "- <promise>DONE</promise>",
        "> <promise>DONE</promise>",
        "`<promise>DONE</promise>`",
        "_<promise>DONE</promise>_",
        "<promise>\nDONE\n</promise>",
        "page\x0c<promise>DONE</promise>",
        "one\u2028<promise>DONE</promise>\u2028two",
        "one\r<promise>DONE</promise>\rtwo",
    ],
)
def test_a_task_that_shows_the_tag_alone_however_decorated_is_not_a_claim_when_repeated(line: str) -> None:
    brief = compose(Run(promise=DONE, task=f"Do it.\n{line}\nThat is all.").state).text

    assert not claimed(brief, brief, DONE)
    assert not any(claimed(part, brief, DONE) for part in brief.splitlines())


def test_an_opening_fence_inside_a_fence_does_not_close_it() -> None:
    assert not claimed("```\n```python\n<promise>DONE</promise>\n```", BRIEF, DONE)


@pytest.mark.parametrize("lead", ["    ", "- ", "> ", "1. ", "      "])
def test_a_fence_in_a_list_or_quotation_is_a_fence(lead: str) -> None:
    pad = " " * len(lead)

    assert not claimed(f"Later I say:\n\n{lead}```\n{pad}<promise>DONE</promise>\n{pad}```\n", BRIEF, DONE)
