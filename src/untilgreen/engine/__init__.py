"""The imperative shell: asks the core what is next, does it, and records what happened."""
