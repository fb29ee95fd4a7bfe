"""Functions of Z3's library, called without Z3's Python layer and without giving up the interpreter lock."""

from __future__ import annotations

import ctypes
from typing import Any

from z3 import z3core


def function(name: str, result: Any, *arguments: Any) -> Any:
    """Return a function of Z3's library, with the ``ctypes`` types of its result and arguments, the context first.

    A null pointer as its result says that Z3 refused the arguments.
    """
    wrapped = getattr(z3core, name).__defaults__[0].f
    address = ctypes.cast(wrapped, ctypes.c_void_p).value or 0
    return ctypes.PYFUNCTYPE(result, *arguments)(address)
