"""Detectors that learn from a stream, through MMEngine."""
