"""Detectors from MMDetection. Importing this package makes `mmcv.ops` work without compiled operators."""

import contextlib
import io
import warnings

from driftlab.models.detectors.operators import install

install()

# Importing MMDetection prints and warns about optional packages that nobody misses.
with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import mmdet.apis  # noqa: F401
