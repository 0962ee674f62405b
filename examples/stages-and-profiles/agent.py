"""Read the brief and fix what it asks for first: the quiet gate before the tests."""

import sys
from pathlib import Path

brief, module = sys.stdin.read(), Path("greeting.py")
text = module.read_text()
if "greeting.py prints" in brief:
    module.write_text("".join(line for line in text.splitlines(keepends=True) if "print(" not in line))
    print("It doesn't print any more.")
elif "test_it_greets_politely" in brief:
    module.write_text(text.replace('"Hello " + name', 'f"Hello, {name}!"'))
    print("It greets politely now.")
else:
    print("Let me see what fails.")
