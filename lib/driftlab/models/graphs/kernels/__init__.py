"""Fast forward and backward passes of the graph networks on a CPU, behind a plain interface.

Only these names are used outside of this folder:

- `FusedGCN`: forward and backward pass of a whole GCN for one replica. `NodeFeatures` are its inputs, `Trace`
  is what a forward pass keeps for the backward pass, `Vector` an array in float64, one value per channel.
- `curvature`: product of the loss's Hessian and a direction, for TWP.
- `Linear`: `torch.nn.Linear` whose products run through oneDNN on a CPU; `product` is the product alone.
- `aligned`: a copy in memory that begins at a cache line.
"""

from driftlab.models.graphs.kernels.alignment import aligned
from driftlab.models.graphs.kernels.folded_norm import Vector
from driftlab.models.graphs.kernels.fused_curvature import curvature
from driftlab.models.graphs.kernels.fused_gcn import FusedGCN, NodeFeatures, Trace
from driftlab.models.graphs.kernels.products import Linear, product

__all__ = ["FusedGCN", "Linear", "NodeFeatures", "Trace", "Vector", "aligned", "curvature", "product"]
