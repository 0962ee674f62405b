"""A small real project with failing tests, and a scripted agent that fixes it step by step.

project  The demo's project: a shopping cart with four defects, six tests and a style rule.
agent    The demo's agent: a program without a model that reads its brief and plays its part.
script   The demo's story for a real agent: what a scripted model has it do and say in each lap.

Used by: the verb `demo`. Uses: nothing of ours.
"""
