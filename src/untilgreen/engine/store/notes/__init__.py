"""What this machine notes about all runs: which session has which, what is trusted, what they taught.

session_notes  Which session has which run: one small file for each, found without reading a journal.
trust_book     Which spec files a person has reviewed, by path and content.
lesson_book    What finished runs taught, in numbers: read from each journal once.

Used by: driving, hooks and the verbs that start, trust and learn. Uses: `atomic_file` and core values.
"""
