"""A module that fails when it is imported."""

raise RuntimeError("the moon is in the wrong phase")


class Broken:
    """A strategy that can never be loaded."""
