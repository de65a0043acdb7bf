"""Checkpoints of pretrained detectors that a user supplies."""

from __future__ import annotations

from pathlib import Path

from driftlab.core.errors import MissingDataError
from driftlab.core.paths import expand_home

OBTAIN = (
    "The paper's detector is Faster R-CNN R-50 C4 trained on PASCAL VOC 2007 and 2012. Train it with "
    "MMDetection (tools/train.py and configs/pascal_voc/faster-rcnn_r50-caffe-c4_ms-18k_voc0712.py, both in "
    "the installed package's folder mmdet/.mim; its model zoo lists no such weights), and give the file with "
    "the parameter `checkpoint`."
)


def find_checkpoint(file: str) -> Path:
    """The file of a detector that official data need.

    Raises:
        MissingDataError: None is given, or it is not there; the text says what to get.
    """
    if not file:
        raise MissingDataError("There is no pretrained detector.", hint=OBTAIN)
    checkpoint = expand_home(file)
    if not checkpoint.is_file():
        raise MissingDataError(f"There is no checkpoint {checkpoint}.", hint=OBTAIN)
    return checkpoint
