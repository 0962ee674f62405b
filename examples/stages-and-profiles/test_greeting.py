import unittest

from greeting import greet


class GreetingTest(unittest.TestCase):
    def test_it_greets_politely(self):
        self.assertEqual(greet("Ann"), "Hello, Ann!")
