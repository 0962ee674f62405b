"""Runs modules with unittest and writes down which tests, and which subtests, failed."""

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
    """A subtest has its parameters behind the name of its test."""
    whole = getattr(test, "test_case", test)
    return f"{whole.id()}{test.id().removeprefix(whole.id())}"


failed = dict.fromkeys(name_of(test) for test, _ in [*result.failures, *result.errors])
Path(os.environ["LISTING"]).write_text(json.dumps(list(failed)))
