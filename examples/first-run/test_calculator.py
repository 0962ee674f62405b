import unittest

import calculator


class CalculatorTest(unittest.TestCase):
    def test_add(self):
        self.assertEqual(calculator.add(2, 3), 5)

    def test_double(self):
        self.assertEqual(calculator.double(4), 8)
