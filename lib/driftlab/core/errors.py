"""Errors that are written for the person who reads them.

Everything that a user can cause is a `DriftlabError`; the command line prints its text without a traceback.
Anything else that escapes is a bug of ours.
"""

from __future__ import annotations

from pathlib import Path


class DriftlabError(Exception):
    """Base of every error that a user can cause and mend."""


class ParameterError(DriftlabError):
    """A notebook's or a function's parameter has an unknown name, a wrong type or an impossible value."""


class StoreError(DriftlabError):
    """The run store cannot be read or written."""


class DataError(DriftlabError):
    """A file of a dataset does not hold what its format promises.

    Args:
        problem: What is wrong, as a sentence without the location.
        file: The file in which it is.
        record: Which record of the file (a sequence name, a line, a frame).
        field: Which field of the record.
        hint: What the reader can do about it.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: str | Path | None = None,
        record: str | int | None = None,
        field: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.problem, self.file, self.record, self.field, self.hint = problem, file, record, field, hint
        place = ", ".join(
            part
            for part in (
                f"{file}" if file is not None else "",
                f"record {record}" if record is not None else "",
                f"field '{field}'" if field is not None else "",
            )
            if part
        )
        super().__init__(f"{place + ': ' if place else ''}{problem}{' ' + hint if hint else ''}")

    def __reduce__(self) -> tuple[object, ...]:
        """Keep the keyword arguments when the error travels between processes."""
        return (_rebuild, (type(self), self.problem, self.file, self.record, self.field, self.hint))


class MissingDataError(DataError):
    """A dataset is not where it is looked for; the text says what to get and where to put it."""


def _rebuild(
    kind: type[DataError],
    problem: str,
    file: str | Path | None,
    record: str | int | None,
    field: str | None,
    hint: str | None,
) -> DataError:
    return kind(problem, file=file, record=record, field=field, hint=hint)
