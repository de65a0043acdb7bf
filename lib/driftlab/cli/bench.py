"""`driftlab bench`."""

from __future__ import annotations


def bench() -> None:
    """Time the replicated trainer against a plain training loop, at N-UCLA's size. Takes some minutes.

    For example:

        driftlab bench
    """
    from driftlab.bench import main

    main()
