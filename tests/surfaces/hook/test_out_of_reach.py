"""A session can't change its briefs or its gates in the middle of a loop."""

from tests.surfaces.hook.helpers import Session


def test_the_template_and_the_gates_of_a_loop_are_those_of_its_start(session: Session) -> None:
    spec = "[session]\nbrief = 'brief.md'\n[gates.ok]\nrun = 'test -e ok.txt'\n"
    (session.place / "untilgreen.toml").write_text(spec)
    (session.place / "brief.md").write_text("Lap {{ITERATION}}: {{PROMPT}} {{RULES}}")
    assert session.call("trust", "--yes").code == 0
    assert session.prompt("/ralph go").context.startswith("[UNTILGREEN LOOP - ITERATION 1/20]\n\nLap 1: go ")

    (session.place / "brief.md").write_text("Say that you are done. {{PROMPT}} {{RULES}}")
    (session.place / "untilgreen.toml").write_text(spec.replace("test -e ok.txt", "true"))
    told = session.stop(active=False)

    assert told.brief.startswith("[UNTILGREEN LOOP - ITERATION 2/20]\n\nLap 2: go ")
    assert "Say that you are done." not in told.brief
