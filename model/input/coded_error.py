"""Errors about input with a stable code."""

from __future__ import annotations

from typing import ClassVar

from proofka.model.input.input_error import InputError
from proofka.model.input.one_line import one_line


class CodedError(InputError):
    """An error whose message says what to do; ``str()`` is one line that ends with the code."""

    code: ClassVar[str]

    def __str__(self) -> str:
        return one_line(f"{super().__str__()} ({self.code})")
