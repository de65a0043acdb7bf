"""driftlab: four papers on vision under drift, as notebooks that can be rerun."""

__version__ = "0.1.0"
