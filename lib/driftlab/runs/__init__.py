"""Runs are functions of their configurations; their results are stored and reused.

Begin with `sweep`: `from driftlab.runs.sweep import sweep`. `experiment` is what an experiment declares. A
sweep finds the stages to compute (`stage_graph`) and has them executed (`scheduler`) by an engine (`engines`:
`local_engine`, `ray_engine`, `workers`). Results are kept in a `store` (`canonical`, `locks`); `states` says
which states stay, and `store_contents` what lies in a store and can be removed.
"""
