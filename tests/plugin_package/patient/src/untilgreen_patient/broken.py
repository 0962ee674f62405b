"""A module that can't be imported, so that there is one."""

raise RuntimeError("the moon is in the wrong phase")


class Broken:
    """Nobody will ever see this."""
