import pytest

from untilgreen.surfaces.json_schemas import schema_of

LAP = {"$ref": "#/$defs/LapView"}


@pytest.mark.parametrize(
    ("schema", "line", "key"), [("result", "Result", "history"), ("report", "Report", "laps")]
)
def test_result_and_report_describe_a_lap_with_the_same_type(schema: str, line: str, key: str) -> None:
    assert schema_of(schema)["$defs"][line]["properties"][key]["items"] == LAP


def test_why_describes_a_lap_with_that_type_too() -> None:
    assert schema_of("output")["$defs"]["Reasons"]["properties"]["laps"]["items"] == LAP
