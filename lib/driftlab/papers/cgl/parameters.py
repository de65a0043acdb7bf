"""The parameters of the CGL notebooks; a model's defaults are the demo scale's values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import model_validator

from driftlab.core.errors import ParameterError
from driftlab.core.limits import Between, DifferentNumbers, Limit, OneOf, SomeOf
from driftlab.methods import METHODS, method_config
from driftlab.models.registry import BACKBONES
from driftlab.notebooks.parameters import Checked, NotebookParameters, protocol, question
from driftlab.papers.parameters import (
    DataFolder,
    Epochs,
    Jobs,
    Replicas,
    Scaled,
    Seeds,
    Swept,
    WorldSequences,
)

TASK_ORDERS = 120
"""Orders of five tasks."""


def data_names() -> list[str]:
    """The datasets of skeletons and their synthetic worlds, by the names that `data` has for them."""
    from driftlab.data.catalog import data_names  # not at the top: it imports NumPy and the readers

    return data_names("skeletons")


def compared_methods() -> list[str]:
    """The methods that are compared; JOINT, the upper bound, is added by the notebooks."""
    return [name for name in METHODS if name != "JOINT"]


class HyperParameters(Limit):
    """Hyper-parameters by method, each one value."""

    says_type = True
    words = "a mapping of methods to their hyper-parameters"

    def problem(self, value: Mapping[str, Mapping[str, Any]]) -> str:
        """What `method_config` says of the first wrong name or value."""
        try:
            for method, hyper in value.items():
                for name, values in self.values(hyper):
                    method_config(method, **{name: values})
                method_config(method)
        except ParameterError as error:
            return f"is not possible: {str(error).rstrip('.')}"
        return ""

    def values(self, hyper: Mapping[str, Any]) -> Iterable[tuple[str, float]]:
        """Every value that is asked for, by name."""
        return hyper.items()


class HyperParameterGrid(HyperParameters):
    """Lists of hyper-parameters by method."""

    words = "a mapping of methods to lists of their hyper-parameters, none of them empty"

    def problem(self, value: Mapping[str, Mapping[str, Any]]) -> str:
        """As for single values; nothing may be empty."""
        if not value or not all(hyper and all(hyper.values()) for hyper in value.values()):
            return f"has to be {self.words}, not {value!r}"
        return super().problem(value)

    def values(self, hyper: Mapping[str, Any]) -> Iterable[tuple[str, float]]:
        """Every value of the grid, by name."""
        return [(name, value) for name, values in hyper.items() for value in values]


Data = Annotated[
    str,
    question('"world" and "world-ntu" are synthetic; "nucla" and "ntu" are the official data'),
    OneOf(data_names),
]
Methods = Annotated[list[str], question("methods to compare"), SomeOf(compared_methods)]
Hyper = Annotated[
    dict[str, dict[str, float]],
    protocol('changes to Table 3\'s best, as {"MAS": {"power": 1.0}}'),
    HyperParameters(),
]
Width = Annotated[int, protocol("units per GCN layer"), Between(1)]
Depth = Annotated[int, protocol("GCN layers"), Between(1)]
SplitSeed = Annotated[
    int | None,
    protocol("None splits in the dataset's order, as the paper does; a number shuffles each class"),
    Between(0),
]
BalancedOrders = Annotated[
    int,
    question("task orders of 120; each task equally often first and last, if a multiple of 5"),
    Between(2, TASK_ORDERS),
]
ClassOrders = Annotated[int, question("random class orders (paper: 100)"), Between(1)]
OrderSeed = Annotated[int, protocol("seed of the random class orders"), Between(0)]
SingleRuns = Annotated[
    bool, question("a point of the scatter plots is a run, not an order's mean over repetitions")
]


class CglData(Scaled):
    """Notebooks that look at a dataset of skeletons."""

    data: Data = "world"
    world_sequences: WorldSequences = 60
    split_seed: SplitSeed = None
    data_folder: DataFolder = ""

    @model_validator(mode="after")
    def _a_world_is_not_read(self) -> CglData:
        if self.data_folder and self.data.startswith("world"):
            raise ValueError(f"data is {self.data!r}, which is made, not read: data_folder has no use here")
        return self


class CglRuns(CglData, Swept):
    """Notebooks that train on skeletons."""

    seeds: Seeds = [0]
    epochs: Epochs = 25
    replicas: Replicas = 8


class CglComparison(CglRuns):
    """Notebooks that compare methods with Table 3's hyper-parameters."""

    methods: Methods = ["BARE", "EWC", "MAS", "TWP", "LwF", "GEM", "REPLAY"]
    hyper: Hyper = {}

    @model_validator(mode="after")
    def _hyper_parameters_of_compared_methods(self) -> CglComparison:
        if others := [name for name in self.hyper if name not in (*self.methods, "JOINT")]:
            raise ValueError(f"hyper names {others[0]}, which is not in methods: {', '.join(self.methods)}")
        return self


class PlainRun(CglData, Swept):
    """40."""

    epochs: Epochs = 25
    strength: Annotated[float, protocol("of EWC in the run in the open (paper: 1e6)"), Between(0)] = 1e6
    jobs: Jobs = 1


class TaskOrder(CglComparison):
    """41."""

    seeds: Seeds = [0, 1, 2]
    orders: BalancedOrders = 5
    joint_orders: Annotated[
        int,
        question("of these, orders for JOINT, the upper bound, which is not in the order experiments"),
        Between(1),
    ] = 5
    example: Annotated[str, question("the method that Figure 2 shows"), OneOf(compared_methods)] = "BARE"
    single_runs: SingleRuns = False
    drop_duplicates: Annotated[
        bool, protocol("leave out the second of each pair of equal sequences (N-UCLA has 95)")
    ] = False
    width: Width = 64
    depth: Depth = 2

    @model_validator(mode="after")
    def _the_example_is_compared(self) -> TaskOrder:
        if self.example not in self.methods:
            raise ValueError(f"example is {self.example}, which is not in methods: {', '.join(self.methods)}")
        return self


class ClassOrder(CglComparison):
    """42."""

    seeds: Seeds = [0, 1, 2]
    orders: ClassOrders = 5
    with_task_orders: Annotated[
        int,
        question("task orders beside them, those of notebook 41 (paper: 120)"),
        Between(2, TASK_ORDERS),
    ] = 5
    single_runs: SingleRuns = False
    order_seed: OrderSeed = 0
    width: Width = 64
    depth: Depth = 2


class Architecture(CglComparison):
    """43."""

    seeds: Seeds = [0, 1, 2]
    joint: Annotated[bool, question("draw JOINT, the upper bound, too")] = True
    widths: Annotated[
        list[int],
        question("units per layer at depth 2 (paper: 32, 64, 128, 256, 512)"),
        DifferentNumbers(Between(1)),
    ] = [16, 32, 64]
    depths: Annotated[
        list[int], question("layers at width 64 (paper: 1, 2, 4, 8, 16)"), DifferentNumbers(Between(1))
    ] = [1, 2, 4]
    orders: Annotated[
        int, question("task orders; 1 is the default order, presumably the paper's"), Between(1, TASK_ORDERS)
    ] = 1


class Search(CglRuns):
    """44."""

    grid: Annotated[
        dict[str, dict[str, list[float]]],
        question("values of each method's hyper-parameters (the paper's Table 5)"),
        HyperParameterGrid(),
    ] = {
        "EWC": {"strength": [1.0, 100.0, 10000.0, 1000000.0]},
        "MAS": {"strength": [1.0, 100.0, 10000.0, 1000000.0]},
        "TWP": {"lambda_l": [100.0, 10000.0], "lambda_t": [100.0, 10000.0], "beta": [0.01, 0.1]},
        "LwF": {"lambda_dist": [0.1, 1.0, 10.0], "T": [0.2, 2.0, 20.0]},
        "GEM": {"strength": [0.05, 0.5, 5.0], "fraction": [0.05, 0.1, 0.2]},
        "REPLAY": {"fraction": [0.05, 0.1, 0.2]},
    }
    seeds: Seeds = [0, 1, 2]


class OtherNetwork(CglComparison):
    """45."""

    world_sequences: WorldSequences = 40
    orders: BalancedOrders = 5
    class_orders: ClassOrders = 3
    single_runs: SingleRuns = False
    order_seed: OrderSeed = 0
    frames: Annotated[
        int | None,
        protocol(
            "frames that each sequence is resampled to; None keeps the paper's 52 (N-UCLA) or 300 (NTU)"
        ),
        Between(1),
    ] = 16
    width: Annotated[int, protocol("units per ST-GCN layer (paper: 64)"), Between(1)] = 8
    learning_rate: Annotated[
        float, protocol("of Adam with ST-GCN (paper: 0.001)"), Between(0, above=True)
    ] = 0.02
    gcn_epochs: Annotated[
        int, protocol("full-batch steps per task of the GCN beside it (paper: 100)"), Between(1)
    ] = 25


NOTEBOOKS: dict[str, type[NotebookParameters]] = {
    "40_cgl_data": PlainRun,
    "41_cgl_task_order": TaskOrder,
    "42_cgl_class_order": ClassOrder,
    "43_cgl_architecture": Architecture,
    "44_cgl_hyperparameters": Search,
    "45_cgl_stgcn": OtherNetwork,
}


class RunSettings(Checked):
    """What `driftlab.papers.cgl.experiment.run_config` takes, with the notebooks' limits."""

    backbone: Annotated[str, OneOf(BACKBONES)]
    width: Width
    depth: Depth
    hidden: Annotated[int, Between(1)]
    epochs: Epochs
    learning_rate: Annotated[float, Between(0, above=True)]
    classes_per_task: Annotated[int, Between(1)]
    split_seed: SplitSeed
    seed: Annotated[int, Between(0)]
