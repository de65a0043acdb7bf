"""Make the reference results on the official N-UCLA anew from the committed evaluation tables.

    python tools/nucla_reference.py

Training the 1,552 runs takes hours; their evaluation tables are in `outputs/reference/nucla/evaluation`.
This makes Figures 2, 3a and 5a from them, Table 2's two halves for UCLA, Theorem 1 and the verdicts, as
notebooks 41 and 42 would save them for these data: official, one repetition, experiment versions 1 and 2.
What was there before is replaced.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from pathlib import Path

import pandas as pd
from driftlab.core.evaluation_table import joined, read_table
from driftlab.core.lineage import stamp
from driftlab.core.provenance import Source
from driftlab.metrics.accuracy_matrix import final_metrics, task_accuracy
from driftlab.metrics.order import check_order_invariants, order_sensitivity, order_sensitivity_summary
from driftlab.metrics.theorem import check_theorem
from driftlab.papers.cgl import figures, own_figures, tables
from driftlab.papers.cgl.claims import accuracy, forgetting, scatter, search, sensitivity, skeletons
from driftlab.papers.cgl.order_runs import order_runs
from driftlab.papers.session import Session

REFERENCE = Path(__file__).resolve().parents[1] / "outputs" / "reference" / "nucla"
SOURCE = Source(
    "official",
    "nucla",
    "1,484 sequences",
    "f569867978a817094a2e24e9d1ae5174ca9186eb796bb84d9c9bde34c922410c",
)
FIRST_VERSION = {"task_orders": ("EWC", "LwF", "GEM", "JOINT"), "class_orders": ("BARE", "EWC", "LwF", "GEM")}
"""The methods whose runs are of experiment version 1 (it rounds differently); the others are of version 2."""
FRACTIONS = {"GEM": 0.2, "REPLAY": 0.2}
"""What these runs stored of each task (Table 3)."""
PLACE = "(a) UCLA-CIL, GCN"
BOUND = "Runs and stages checked, violations, and the smallest distance to each bound in points."
OUR_OWN = "Final AA and AF, mean ± deviation over orders."


def main(arguments: list[str] | None = None) -> int:
    """Write tables, figures and verdicts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--outputs", type=Path, default=REFERENCE, help="where to write")
    outputs = parser.parse_args(arguments).outputs.resolve()
    for folder in ("tables", "figures", "claims"):
        shutil.rmtree(outputs / folder, ignore_errors=True)
    os.environ["DRIFTLAB_OUTPUTS"] = str(outputs)
    save_task_orders(evaluation("task_orders", joint=True), evaluation("task_orders"))
    save_class_orders(evaluation("task_orders"), evaluation("class_orders"))
    print(f"Written: {outputs}")
    return 0


def evaluation(name: str, *, joint: bool = False) -> pd.DataFrame:
    """A committed evaluation table, with its runs as lineage, each under its experiment version.

    Args:
        name: `task_orders` or `class_orders`.
        joint: Keep the runs of JOINT, which is not in the order experiments.
    """
    table = read_table(REFERENCE / "evaluation" / f"{name}.parquet")
    table = table[joint | (table["method"] != "JOINT")]
    first = table["method"].isin(FIRST_VERSION[name])
    return joined(stamp(table[first], "cgl version 1 on cpu"), stamp(table[~first], "cgl version 2 on cpu"))


def save_task_orders(table: pd.DataFrame, of_methods: pd.DataFrame) -> None:
    """What notebook 41 saves, of all runs and of those without JOINT."""
    changed = {"seeds": [0], "joint_orders": 12}
    session = Session("cgl", "41_cgl_task_order", "paper", SOURCE, "local", 1, changed=changed)
    per_task = task_accuracy(table)
    final, runs = final_metrics(per_task), order_runs(table)
    compared = final_metrics(task_accuracy(of_methods))
    summary = order_sensitivity_summary(order_sensitivity(of_methods, by="task"))
    half = sensitivity.sensitivity(summary, runs.resolution)
    example = figures.forgetting_scatter(final[final["method"] == "BARE"], title=PLACE)
    caption = "How to read the plots: one method, one point per order, and the ceiling that AA sets for AF."
    session.figure("figure_2", example, "One method's orders", caption, part="a")
    drawn = figures.forgetting_scatter(compared, title=PLACE)
    caption = "Final AF against final AA with GCN, one point per task order; the ceiling is dotted."
    session.figure("figure_3", drawn, "Task orders, GCN", caption, part="a")
    drawn = own_figures.accuracy_matrices(per_task)
    caption = "Accuracy on the j-th task after k tasks, mean over orders."
    session.figure("figure_3", drawn, "Task orders: matrices", caption, part="ours-matrices")
    mean, std = tables.accuracy_table(final)
    session.table(
        "figure_3", mean, "After the last task", OUR_OWN, part="ours-final", deviation=std, units="%"
    )
    _save_half(session, summary, "task", "AOPD and MOPD over 120 task orders, one repetition.")
    theorem = check_theorem(per_task)
    session.table("theorem_1", tables.theorem_table(theorem), "Theorem 1", BOUND, part="task-orders")
    movement = json.loads((REFERENCE / "evaluation" / "leg_movement.json").read_text("utf-8"))
    session.verdicts(
        accuracy.joint_is_upper_and_bare_lower_bound(runs),
        forgetting.gem_forgets_least(runs),
        accuracy.gem_is_less_accurate_than_replay(runs, FRACTIONS),
        scatter.each_method_forms_its_own_cluster(runs),
        scatter.forgetting_falls_linearly_with_accuracy(runs),
        scatter.methods_of_similar_accuracy_differ_in_forgetting(runs),
        forgetting.mas_learns_less_and_forgets_less_than_ewc(runs),
        forgetting.mas_and_ewc_forget_alike_on_ntu(runs),
        forgetting.twp_forgets_less_than_mas_at_equal_accuracy(runs),
        forgetting.forgetting_of_lwf_swings_most(runs),
        skeletons.lwf_forgets_most_from_leg_rich_to_leg_poor_tasks(runs, movement["per_task"]),
        forgetting.low_forgetting_comes_from_a_low_peak(runs),
        accuracy.last_tasks_end_higher_with_regularisers(runs),
        scatter.lwf_and_bare_split_by_their_last_task(runs),
        scatter.the_less_accurate_cluster_ends_with_a_hard_task(runs),
        accuracy.lwf_and_replay_keep_old_tasks_better(runs),
        sensitivity.replay_is_least_and_bare_most_order_sensitive({"task UCLA": half}),
        sensitivity.lwf_and_replay_are_less_order_sensitive(half),
        sensitivity.gem_is_more_order_sensitive_than_replay(half, runs),
        sensitivity.lwf_and_replay_are_steadier_in_accuracy(runs),
        sensitivity.some_tasks_swing_between_nothing_and_all(half),
        sensitivity.ntu_is_less_order_sensitive_except_for_lwf(half),
        sensitivity.two_classes_of_one_task_can_end_far_apart(runs),
        accuracy.order_hardly_matters_for_joint(runs),
        accuracy.overfitting_is_weaker_on_ntu({}),
        search.gem_and_replay_cost_more_time({}),
        forgetting.accuracy_bounds_forgetting(theorem),
    )


def save_class_orders(task_table: pd.DataFrame, class_table: pd.DataFrame) -> None:
    """What notebook 42 saves."""
    session = Session("cgl", "42_cgl_class_order", "paper", SOURCE, "local", 1, changed={"seeds": [0]})
    both = joined(task_table, class_table)
    task_runs, class_runs = order_runs(task_table), order_runs(class_table)
    final, class_final = (final_metrics(task_accuracy(table)) for table in (task_table, class_table))
    drawn = figures.forgetting_scatter(final, class_final, title=PLACE)
    caption = "Final AF against final AA with GCN, one point per order; Eq. 10's ceiling is dotted."
    session.figure("figure_5", drawn, "Task and class orders, GCN", caption, part="a")
    summary = order_sensitivity_summary(order_sensitivity(both, by="class"))
    task_summary = order_sensitivity_summary(order_sensitivity(task_table, by="task"))
    check_order_invariants(task_summary, summary)
    _save_half(session, summary, "class", "AOPD and MOPD by class over 100 class and 120 task orders.")
    theorem = check_theorem(task_accuracy(both))
    session.table("theorem_1", tables.theorem_table(theorem), "Theorem 1", BOUND, part="all-orders")
    task_half = sensitivity.sensitivity(task_summary, task_runs.resolution)
    class_half = sensitivity.sensitivity(summary, task_runs.resolution)
    halves = {"task UCLA": task_half, "class UCLA": class_half}
    session.verdicts(
        scatter.clouds_of_class_orders_differ_from_task_orders(task_runs, class_runs),
        accuracy.ewc_and_twp_are_worst_and_replay_best(order_runs(both)),
        accuracy.class_orders_are_harder_than_task_orders(task_runs, class_runs),
        sensitivity.replay_is_least_and_bare_most_order_sensitive(halves),
        sensitivity.class_orders_move_more_than_task_orders(task_half, class_half, task_runs),
        sensitivity.every_method_is_order_sensitive(task_half, task_runs, class_half),
        sensitivity.robust_to_task_order_is_not_robust_to_class_order(task_runs),
        forgetting.accuracy_bounds_forgetting(theorem),
    )


def _save_half(session: Session, summary: pd.DataFrame, by: str, caption: str) -> None:
    mean, std = tables.order_sensitivity_table(summary, prefix=f"{by} UCLA")
    better = dict.fromkeys(mean, "low")
    session.table(
        "table_2",
        mean,
        f"Sensitivity to {by} order",
        caption,
        part=f"{by}-orders",
        deviation=std,
        units="%",
        better=better,
        never_worst=["BARE"],
    )


if __name__ == "__main__":
    sys.exit(main())
