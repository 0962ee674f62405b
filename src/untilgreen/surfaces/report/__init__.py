"""A run to hand on: one value with all that a report tells, and the forms that it can take."""
