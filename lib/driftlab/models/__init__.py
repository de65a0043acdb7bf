"""Models by family: graph networks, detectors."""
