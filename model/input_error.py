"""What every error about input has in common."""

from __future__ import annotations


class InputError(Exception):
    """What the user gave is wrong: ``str()`` is one line that says what, and what to do.

    ``others``: what else is wrong, found in the same reading; a line each.
    """

    others: tuple[InputError, ...] = ()
