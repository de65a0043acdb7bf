"""The numbered notebooks as files: finding them, and reading and checking their parameters.

Nothing here executes a notebook or imports anything heavy, so that a wrong parameter is refused in seconds.
"""

from driftlab.notebooks.files import Notebook, find, read
from driftlab.notebooks.overrides import changes, check_parameters, resolve
from driftlab.notebooks.parameters import Parameter, parse_cell

__all__ = ["Notebook", "Parameter", "changes", "check_parameters", "find", "parse_cell", "read", "resolve"]
