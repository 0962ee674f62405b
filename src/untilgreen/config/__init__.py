"""The spec: one format, from file, profile, environment, flags or code."""
