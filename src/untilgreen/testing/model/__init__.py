"""A model that follows a script, for agents' real command lines: it speaks four APIs and thinks nothing."""
