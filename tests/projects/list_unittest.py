"""Run modules with unittest and write the failed tests and subtests to a file."""

import json
import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path.cwd()))
suite = unittest.defaultTestLoader.loadTestsFromNames(sys.argv[1:])
result = unittest.TestResult()
suite.run(result)


def name_of(test: unittest.TestCase) -> str:
    """The test's id; a subtest's is followed by its parameters."""
    whole = getattr(test, "test_case", test)
    return f"{whole.id()}{test.id().removeprefix(whole.id())}"


failed = dict.fromkeys(name_of(test) for test, _ in [*result.failures, *result.errors])
Path(os.environ["LISTING"]).write_text(json.dumps(list(failed)))
