"""pytest and unittest, and tox and nox around them."""

# ruff: noqa: E501 - whole files as text
from __future__ import annotations

from tests.gates.output.runners.styles import Projects

PY = "from cart import total\n\ndef test_adds():\n    assert total([1]) == 1\n\ndef test_totals():\n    assert total([1, 2]) == 3\n\ndef test_empties():\n    assert total([]) == 0\n"
PY_CART = "def total(items):\n    return items[0] if items else 0\n"
UNIT = "import unittest\nfrom cart import total\n\nclass Cart(unittest.TestCase):\n    def test_adds(self):\n        self.assertEqual(total([1]), 1)\n\n    def test_totals(self):\n        self.assertEqual(total([1, 2]), 3)\n\n    def test_empties(self):\n        self.assertEqual(total([]), 0)\n"
PRICE = "def net(x):\n    return x\n\ndef gross(x):\n    return x * 2\n"
UNIT_PRICE = "import unittest\nfrom price import net\n\nclass Price(unittest.TestCase):\n    def test_nets(self):\n        self.assertEqual(net(1), 1)\n"
UNIT_OUT = "import os, unittest\n\nclass Out(unittest.TestCase):\n    def test_a(self): ...\n\n    def test_b(self): ...\n\n    def test_leaves(self):\n        os._exit(0)\n"
TOX = "[tox]\nenv_list = py, again\nskipsdist = true\n[testenv]\nsystem_site_packages = true\ncommands = python -m pytest -q {posargs:test_cart.py}\n"
NOX = "import nox\n\n@nox.session(python=False)\ndef tests(session):\n    session.run('python', '-m', 'pytest', '-q', 'test_cart.py', *session.posargs)\n"

PROJECTS: Projects = {
    "pytest": (
        {
            "cart.py": PY_CART,
            "test_cart.py": PY,
            "broken/test_syntax.py": "def test(:\n",
            "none/a.py": "",
            "price.py": PRICE,
            "test_price.py": "from price import net\n\ndef test_nets():\n    assert net(1) == 1\n",
            "out/test_out.py": "import os\n\ndef test_ok(): ...\n\ndef test_leaves():\n    os._exit(0)\n",
            "many/test_many.py": "import os, pytest\n\n@pytest.mark.parametrize('n', range(100))\ndef test_n(n):\n    if n == 80:\n        os._exit(0)\n",
            "stops/test_stops.py": "import pytest\n\ndef test_ok(): ...\n\ndef test_stops():\n    pytest.exit('enough', returncode=0)\n\ndef test_after():\n    assert 0\n",
            "exits/test_exit.py": "import os\n\ndef test_ok(): ...\n\ndef test_exit():\n    os._exit(3)\n",
        },
        {
            "default": "pytest test_cart.py",
            "color": "pytest --color=yes test_cart.py",
            "quiet": "pytest -q test_cart.py",
            "qq": "pytest -qq test_cart.py",
            "verbose": "pytest -vv test_cart.py",
            "parallel": "pytest -n 2 -p xdist test_cart.py",
            "short": "pytest --tb=short test_cart.py",
            "notb": "pytest --tb=no -q test_cart.py",
            "line": "pytest --tb=line -q test_cart.py",
            "syntax": "pytest -q broken",
            "none": "pytest none",
            "exit": "pytest -v exits",
            "exit0": "pytest out",
            "exit0-quiet": "pytest -q many",
            "exit0-one-row": "pytest -q out",
            "stops": "pytest stops",
            "junit": "pytest -q test_cart.py --junitxml=/dev/stdout | cat",
            "coverage": "pytest -q --cov=price --cov-fail-under=100 test_price.py",
        },
    ),
    "unittest": (
        {
            "cart.py": PY_CART,
            "test_cart.py": UNIT,
            "price.py": PRICE,
            "test_price.py": UNIT_PRICE,
            "test_out.py": UNIT_OUT,
            "test_none.py": "",
            "test_syntax.py": "def test(:\n",
        },
        {
            "default": "python3 -m unittest test_cart",
            "quiet": "python3 -m unittest -q test_cart",
            "verbose": "python3 -m unittest -v test_cart",
            "buffered": "python3 -m unittest -b -v test_cart",
            "failfast": "python3 -m unittest -f test_cart",
            "syntax": "python3 -m unittest -q test_syntax",
            "none": "python3 -m unittest test_none",
            "exit0": "python3 -m unittest test_out",
            "exit0-verbose": "python3 -m unittest -v test_out",
            "coverage": "coverage run --include=price.py -m unittest -q test_price; coverage report --fail-under=100",
        },
    ),
    "tox": (
        {"cart.py": PY_CART, "test_cart.py": PY, "tox.ini": TOX},
        {
            "default": "tox -e py",
            "color": "tox --colored yes -e py",
            "quiet": "tox -q -e py",
            "verbose": "tox -v -e py",
            "parallel": "tox run-parallel -e py,again",
            "none": "tox -e py -- -k nothing test_cart.py",
        },
    ),
    "nox": (
        {"cart.py": PY_CART, "test_cart.py": PY, "noxfile.py": NOX},
        {
            "default": "nox -s tests",
            "color": "nox --forcecolor -s tests",
            "verbose": "nox -v -s tests",
            "none": "nox -s tests -- -k nothing",
        },
    ),
}
