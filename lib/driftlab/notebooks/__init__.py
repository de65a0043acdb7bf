"""The numbered notebooks as files: finding them, and reading and checking their parameters.

Nothing here executes a notebook or imports anything heavy, so that a wrong parameter is refused in seconds.
"""

from driftlab.notebooks.files import Notebook, find, read
from driftlab.notebooks.values import changes, check_parameters, resolve

__all__ = ["Notebook", "changes", "check_parameters", "find", "read", "resolve"]
