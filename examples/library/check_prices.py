"""The gate: every price has to be 12."""

import sys

from prices import PRICES

wrong = [f"{name} costs {price}" for name, price in PRICES.items() if price != 12]
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
