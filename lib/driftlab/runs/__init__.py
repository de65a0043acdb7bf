"""Runs that are pure and kept: contract 4.

`experiment` says what an experiment declares, `store` keeps what has been computed (`canonical`, `locks`),
`engines` (`local_engine`, `ray_engine`, `workers`) do the work, and `sweep` joins them (`graph`: what is to
be done; `driver`: handing it out): `from driftlab.runs.sweep import sweep`.
"""
