"""BARE: fine-tuning, the lower bound."""

from driftlab.methods.base import Method


class Bare(Method):
    """Train on each task as it comes and do nothing about forgetting."""

    name = "BARE"
