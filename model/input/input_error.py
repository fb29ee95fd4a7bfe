"""The base class of all errors about input."""

from __future__ import annotations


class InputError(Exception):
    """An error in the user's input: ``str()`` is one line that names the error and the remedy.

    ``others``: further errors found in the same reading, a line each.
    """

    others: tuple[InputError, ...] = ()
