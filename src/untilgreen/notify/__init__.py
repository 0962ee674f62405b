"""Telling somebody who is not looking: what is worth a message, and the ways in which it gets out."""
