"""The detectors, from MMDetection's own configurations."""

from __future__ import annotations

from pathlib import Path

import mmdet
from mmengine.config import Config, ConfigDict

CONFIGS = Path(mmdet.__file__).parent / ".mim" / "configs"
PAPER = "pascal_voc/faster-rcnn_r50-caffe-c4_ms-18k_voc0712.py"
SMALL = "_base_/models/faster-rcnn_r50_fpn.py"

CROWD_OVERLAP = 0.5
"""While training, a location that lies in a crowd by more than this share is ignored."""


def paper(classes: int) -> ConfigDict:
    """Wanderlust's Faster R-CNN: ResNet-50 C4, as MMDetection trains it on PASCAL VOC.

    Frozen is the backbone up to stage 4; the RPN, stage 5 on every RoI, classifier and regressor train.
    """
    model = _own(PAPER, classes)
    model.frozen = ("backbone",)
    # The weights come from a checkpoint of the whole detector; nothing is fetched.
    model.backbone.init_cfg = None
    model.roi_head.shared_head.init_cfg = None
    return model


def small(classes: int) -> ConfigDict:
    """A Faster R-CNN for 128-pixel frames and two cores: ResNet-18 with 16 base channels and an FPN of 32.

    RoIs have features of stride 4, as half of a stream's objects have sides below 16 pixels. The RPN begins
    at stride 8: three quarters of its anchors would lie at stride 4. Anchors have sides of 12, 24, 48 and 96
    pixels. Backbone and FPN are frozen on a stream.
    """
    model = _own(SMALL, classes)
    model.frozen = ("backbone", "neck")
    model.backbone.init_cfg = [{"type": "Kaiming", "layer": "Conv2d"}]
    model.backbone.update(depth=18, base_channels=16, frozen_stages=-1, norm_eval=False)
    model.neck.update(in_channels=[16, 32, 64, 128], out_channels=32)
    model.rpn_head.update(in_channels=32, feat_channels=32, first_level=1)
    model.rpn_head.anchor_generator.update(scales=[1.5], strides=[8, 16, 32, 64])
    model.roi_head.bbox_roi_extractor.update(out_channels=32, featmap_strides=[4, 8, 16])
    model.roi_head.bbox_head.update(in_channels=32, fc_out_channels=128)
    # A frame of 128 pixels has 1,020 anchors and few objects: less of everything.
    model.train_cfg.rpn.sampler.num = 64
    model.train_cfg.rcnn.sampler.num = 32
    model.train_cfg.rpn_proposal.update(nms_pre=100, max_per_img=50)
    model.test_cfg.rpn.update(nms_pre=200, max_per_img=50)
    return model


INPUT: dict[str, tuple[int, int]] = {"faster-rcnn-r50-c4": (1333, 800), "small": (128, 128)}
"""The largest long and short side of a frame in pixels, by the detector's name in `DETECTORS`."""


def _own(file: str, classes: int) -> ConfigDict:
    model = Config.fromfile(CONFIGS / file).model
    model.type = "StreamFasterRCNN"
    model.data_preprocessor.type = "StreamPreprocessor"
    model.roi_head.bbox_head.type = f"Growing{model.roi_head.bbox_head.type}"
    model.roi_head.bbox_head.num_classes = classes
    model.rpn_head.type = "BatchedRPNHead"
    for stage in (model.train_cfg.rpn, model.train_cfg.rcnn):
        stage.assigner.ignore_iof_thr = CROWD_OVERLAP
    return model
