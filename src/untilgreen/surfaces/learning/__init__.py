"""What was learned from your own runs, as lines, tables and JSON.

gathering  What to show: the numbers of each agent, and how agents compare.
text       The same in words, for people.

Used by: the verbs `learn` and `plan`. Uses: the lesson book, the core's learning, and text for terminals.
"""
