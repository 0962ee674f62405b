#!/bin/sh
# Reads its brief from stdin and fixes the first failure in it.
brief=$(cat)
if echo "$brief" | grep -q '^- .*test_add'; then
    sed -i.bak 's/a - b/a + b/' calculator.py
    echo "add() subtracted; now it adds."
else
    sed -i.bak 's/a + a + 1/a + a/' calculator.py
    echo "double() added one too many."
fi
rm -f calculator.py.bak
