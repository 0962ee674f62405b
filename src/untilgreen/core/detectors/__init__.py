"""Each recognises one pattern in the laps so far; none decides what follows from it."""
