"""Adapters for coding agents: each takes a brief, works at a desk, and hands back a reply."""
