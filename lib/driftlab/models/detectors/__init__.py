"""Detectors from MMDetection. Importing this package makes `mmcv.ops` work without compiled operators."""

from driftlab.models.detectors.operators import install

install()
