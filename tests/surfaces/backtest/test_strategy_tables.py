"""What other strategies would have saved and lost, as text and as a picture."""

import xml.etree.ElementTree as ET

from inline_snapshot import snapshot

from untilgreen.backtest.strategies import Row
from untilgreen.surfaces.backtest.strategy_tables import picture, rows, sentence, svg


def row(strategy: str, *, saved: float = 0.0, lost: int = 0, unknown: int = 0, cost: float = 10.0) -> Row:
    return Row(
        strategy=strategy,
        runs=12,
        earlier=5,
        unknown=unknown,
        successes=8,
        lost=lost,
        laps=60,
        saved_laps=round(60 * saved),
        cost=cost,
        saved_cost=cost * saved,
        seconds=6000.0,
        saved_seconds=6000 * saved,
        saved_tokens=0,
    )


ROWS = [row("fixed", saved=0.8, lost=4), row("hybrid base=4", saved=0.41, lost=1), row("hybrid", unknown=2)]


def test_each_strategy_has_a_row_of_its_own() -> None:
    assert "\n".join(rows(ROWS)) == snapshot("""\
strategy         runs  ends earlier  saved laps  saved money  saved time    lost  unknown
A fixed            12             5    48 of 60        $8.00       1h20m  4 of 8        0
B hybrid base=4    12             5    25 of 60        $4.10         41m  1 of 8        0
C hybrid           12             5     0 of 60        $0.00          0s  0 of 8        2\
""")


def test_a_sentence_says_what_was_saved_and_lost() -> None:
    assert (
        sentence(ROWS[1])
        == "With hybrid base=4 you would have saved $4.10 and 41m, and lost 1 of 8 successes."
    )
    assert sentence(ROWS[2]) == (
        "With hybrid you would have saved $0.00 and 0s, and lost 0 of 8 successes. "
        "Not counted: 2 of 12 runs, which would need laps that never happened."
    )
    assert "$" not in sentence(row("fixed", cost=0.0))


def test_the_picture_has_the_saved_to_the_right_and_the_lost_upwards() -> None:
    assert "\n".join(picture(ROWS)) == snapshot("""\
  lost
 50.0% |                                        A
       |
       |
       |
       |
       |
       |
       |
       |                    B
       |
  0.0% |C
       +--------------------------------------------------
        0 % saved                                    100 %\
""")


def test_strategies_in_one_place_are_a_star() -> None:
    drawn = "\n".join(picture([row("a"), row("b")]))

    assert "*" in drawn
    assert drawn.endswith("* several in one place")


def test_the_svg_is_well_formed_and_names_every_strategy() -> None:
    drawn = svg([*ROWS, row('<script> & "x"', saved=1.0)])

    root = ET.fromstring(drawn)
    spots = root.findall("{http://www.w3.org/2000/svg}circle")
    words = [text.text for text in root.findall("{http://www.w3.org/2000/svg}text")]
    assert len(spots) == 4
    assert {"fixed", "hybrid base=4", "hybrid", '<script> & "x"'} <= set(words)
    assert [float(spot.attrib["cx"]) for spot in spots] == [492.0, 281.4, 60.0, 600.0]
    assert float(spots[0].attrib["cy"]) < float(spots[1].attrib["cy"]) < float(spots[2].attrib["cy"])
