"""A small real project with failing tests, and an agent without a model that mends it step by step."""
