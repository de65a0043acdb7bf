"""`python -m driftlab.cli` is `driftlab`."""

from driftlab.cli import main

main()
