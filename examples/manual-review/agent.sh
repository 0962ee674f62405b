#!/bin/sh
# Adds a line in each turn, and a better one when told how.
brief=$(cat)
if echo "$brief" | grep -q 'say hello'; then
    echo "hello" >> notes.md
else
    echo "something" >> notes.md
fi
