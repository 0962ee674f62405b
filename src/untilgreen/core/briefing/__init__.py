"""What the agent is told, what its reply claims, and how much of a text an event keeps.

brief             Everything the agent is told in a lap: the task, what still fails, hints and notes.
session_template  The same for a session: a template whose placeholders are filled in one pass.
claims            Recognizes a claim: the promise as a tag, in the agent's own last message of this lap.
excerpt           What an event keeps of long texts: head and tail, and a digest to compare the whole.

Used by: the loop, the engine and adapters of agents. Uses: only scoring and values.
"""
