"""Stand-ins that are shipped, for the tests of those who extend untilgreen and for our own."""

from untilgreen.testing.stories import story, tell

__all__ = ["story", "tell"]
