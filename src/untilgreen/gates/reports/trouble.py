"""Why a report can't be believed; the words follow the report's name in a sentence."""


class Unusable(Exception):
    """A report that is missing, stale, out of place, too large or not what its name says."""
