"""`only` finds the error to report in the exception groups that tasks raise."""

from untilgreen.errors import JournalError, JournalTaken, UserError, only


def test_a_single_error_is_taken_out_of_its_groups() -> None:
    error = UserError("no")

    assert only(ExceptionGroup("", [ExceptionGroup("", [error])])) is error
    assert only(error) is error


def test_several_errors_stay_together() -> None:
    both = ExceptionGroup("", [UserError("no"), JournalError("neither")])

    assert only(both) is both


def test_being_overtaken_explains_the_other_failures() -> None:
    taken = JournalTaken("Run abc is driven elsewhere.")

    assert only(ExceptionGroup("", [UserError("no"), ExceptionGroup("", [taken, JournalTaken("")])])) is taken


def test_a_journal_that_could_not_be_written_is_one_error_for_all_who_wrote() -> None:
    full = JournalError("full")

    assert only(ExceptionGroup("", [full, ExceptionGroup("", [full, full])])) is full
