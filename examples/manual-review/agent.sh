#!/bin/sh
# Adds a line a turn, and a better one when it is told how.
brief=$(cat)
if echo "$brief" | grep -q 'say hello'; then
    echo "hello" >> notes.md
else
    echo "something" >> notes.md
fi
