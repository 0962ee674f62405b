"""The files that are worked on: trees are kept of them, and brought back, without touching what git knows."""
