"""Making an agent call our hooks: which files that takes for each, and what has to stand in them."""
