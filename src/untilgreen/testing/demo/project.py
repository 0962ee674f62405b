"""The demo's project: a shopping cart with four defects, six tests and a style rule."""

from __future__ import annotations

from pathlib import Path

CART = '''\
"""Prices in a shopping cart, in cents."""


def total(prices):
    return sum(prices[1:])


def discounted(price, percent):
    return price - percent


def shipping(weight_in_grams):
    if weight_in_grams > 1000:
        return 490
    return 0


def receipt(items):
    return ", ".join(name for name, price in items)
'''

TESTS = """\
import unittest

import cart


class CartTest(unittest.TestCase):
    def test_total_adds_every_price(self):
        self.assertEqual(cart.total([100, 250, 50]), 400)

    def test_an_empty_cart_costs_nothing(self):
        self.assertEqual(cart.total([]), 0)

    def test_a_discount_is_a_share_of_the_price(self):
        self.assertEqual(cart.discounted(2000, 25), 1500)

    def test_heavy_parcels_cost_more(self):
        self.assertEqual(cart.shipping(1500), 990)

    def test_light_parcels_cost_something(self):
        self.assertEqual(cart.shipping(200), 490)

    def test_a_receipt_names_price_and_item(self):
        self.assertEqual(cart.receipt([("tea", 350), ("cup", 900)]), "tea 3.50, cup 9.00")


if __name__ == "__main__":
    unittest.main()
"""

STYLE = '''\
"""Fails while a print was left in the code."""

import pathlib
import sys

left = 0
for number, line in enumerate(pathlib.Path("cart.py").read_text().splitlines(), 1):
    if "print(" in line:
        print(f"cart.py:{number}: a print was left in the code")
        left += 1
sys.exit(1 if left else 0)
'''

TASK = "Make the shopping cart's tests pass."
IGNORED = "__pycache__/\n"


def make_project(folder: Path) -> None:
    """Write the files; turning the folder into a repository is up to the caller."""
    files = {"cart.py": CART, "test_cart.py": TESTS, "style.py": STYLE, ".gitignore": IGNORED}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
