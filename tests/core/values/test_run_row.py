"""One row in a list of runs, as it is stored for the next list."""

from msgspec import json

from untilgreen.core.values.run_row import RunRow

SHORT = b'["open",null,2,0.5,null,300,"make it green",12.5,[0.25,0.5]]'


def test_a_row_that_was_kept_before_it_had_more_fields_is_still_read() -> None:
    row = json.decode(SHORT, type=RunRow)

    assert (row.status, row.outcome, row.laps, row.title) == ("open", None, 2, "make it green")
    assert (row.cost, row.tokens, row.scores) == (None, 300, (0.25, 0.5))
    assert (row.agent, row.question, row.most_laps, row.gates, row.labels) == ("", "", None, (), {})


def test_a_row_is_kept_as_a_list_and_read_back_the_same() -> None:
    row = RunRow(
        status="finished",
        outcome="converged",
        laps=1,
        score=1.0,
        cost=0.5,
        tokens=None,
        title="make it green",
        updated=12.5,
        scores=(1.0,),
        gates=(("tests", "pass"), ("style", "skip")),
        labels={"team": "web"},
    )

    line = json.encode(row)

    assert line.startswith(b'["finished","converged",1,1.0,0.5,null,"make it green",12.5,[1.0],')
    assert json.decode(line, type=RunRow) == row


def test_the_labels_of_one_row_are_not_those_of_another() -> None:
    one, other = json.decode(SHORT, type=RunRow), json.decode(SHORT, type=RunRow)
    one.labels["team"] = "web"

    assert other.labels == {}
