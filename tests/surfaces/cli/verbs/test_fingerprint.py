"""fingerprint: what is recognized in the output of a tool."""

from tests.surfaces.cli.helpers import Cli

RED = "test_till.py:{line}: error: Name 'y' is not defined\n"
JUNIT = "<testsuite><testcase classname='till' name='sums'><failure message='no'/></testcase></testsuite>"


def test_each_file_is_one_json_line(cli: Cli) -> None:
    (cli.place / "a.txt").write_text(RED.format(line=3))
    (cli.place / "b.txt").write_text("nothing to see\n")
    (cli.place / "c.txt").write_text("lib/a.ex:3: unused\n")

    done = cli("fingerprint", "a.txt", "b.txt", "c.txt", "--json")

    assert done.code == 0
    assert [(line["file"], line["tool"], len(line["findings"])) for line in done.lines] == [
        ("a.txt", "mypy", 1),
        ("b.txt", None, 0),
        ("c.txt", None, 1),
    ]
    assert done.lines[0]["findings"] == [
        {
            "id": "test_till.py: error: name 'y' is not defined",
            "message": "error: Name 'y' is not defined",
            "file": "test_till.py",
            "line": 3,
        }
    ]
    assert all(line["fingerprint"] for line in done.lines)


def test_the_same_failures_have_the_same_fingerprint_and_other_failures_another_one(cli: Cli) -> None:
    (cli.place / "a.txt").write_text(RED.format(line=3) + "b.py:1: error: gone\n")
    (cli.place / "b.txt").write_text("b.py:7: error: gone\n" + RED.format(line=40))
    (cli.place / "c.txt").write_text(RED.format(line=3))

    one, same, other = (
        line["fingerprint"] for line in cli("fingerprint", "--json", "a.txt", "b.txt", "c.txt").lines
    )

    assert one == same != other


def test_an_output_has_a_signature_that_people_can_read(cli: Cli) -> None:
    (cli.place / "a.txt").write_text("Error: TypeError - Cannot read property 'id' of null at auth.ts:45\n")
    (cli.place / "b.txt").write_text("3 tests failing - auth, login\n")
    (cli.place / "c.txt").write_text("2 tests failing - auth, login\n")

    people = cli("fingerprint", "a.txt").out
    error, three, two = cli("fingerprint", "--json", "a.txt", "b.txt", "c.txt").lines

    assert "signature: error:TypeError-null-auth.ts" in people
    assert error["signature"] == "error:TypeError-null-auth.ts"
    assert three["signature"] == "test-fail:3-auth,login"
    assert three["fingerprint"] != two["fingerprint"]


def test_a_dash_is_stdin(cli: Cli) -> None:
    done = cli("fingerprint", "-", "--json", stdin=RED.format(line=3))

    assert [(line["file"], line["tool"]) for line in done.lines] == [("-", "mypy")]


def test_a_test_report_is_read_as_a_report(cli: Cli) -> None:
    (cli.place / "junit.xml").write_text(JUNIT)

    (line,) = cli("fingerprint", "junit.xml", "--json").lines

    assert (line["tool"], [each["id"] for each in line["findings"]]) == ("junit", ["till::sums"])


def test_text_output_says_the_same_without_control_characters(cli: Cli) -> None:
    (cli.place / "a.txt").write_text(RED.format(line=3).replace("Name", "\x1b[2JName\x07"))

    done = cli("fingerprint", "a.txt")

    assert done.code == 0
    assert "mypy" in done.out
    assert "1 finding" in done.out
    assert "\x1b" not in done.out
    assert "\x07" not in done.out


def test_what_can_not_be_read_is_answered_with_a_clear_error(cli: Cli) -> None:
    for arguments in (("gone.txt",), (".",), (), ("--jsno", "notes.txt")):
        done = cli("fingerprint", *arguments)

        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("error: ")
        assert "Traceback" not in done.err
