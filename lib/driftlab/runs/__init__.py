"""Runs that are pure and kept: contract 4.

`experiment` says what an experiment declares; `store` keeps what has been computed (`canonical`, `locks`);
`engines` (`local_engine`, `ray_engine`, `workers`) execute stages; `sweep` joins them (`stage_graph`: which
stages are to be computed; `scheduler`: handing them to workers): `from driftlab.runs.sweep import sweep`.
"""
