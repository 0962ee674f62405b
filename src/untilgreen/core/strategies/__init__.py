"""Each answers after a lap that was not green: go on, end it, or ask."""
