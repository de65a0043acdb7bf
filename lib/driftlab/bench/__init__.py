"""Benchmarks: driftlab against plain implementations of the same computation."""
