"""Errors that say that the system refused memory or a thread.

The module imports nothing heavy: the program needs the module where loading itself fails.
"""

import errno

EXIT_NO_MEMORY = 5
"""Exit status of a command that the system refused memory or a thread."""

ADVICE = (
    "the system refused memory or a thread (ulimit -v, or the limit of a container): nothing more is decided; allow "
    "more memory, or explore less with --memory or fewer --faults"
)

_OF_OTHERS = ("can't start new thread", "out of memory", "failed to map segment", "could not find/load shared object")
"""Messages by which Python, Z3, the loader of libraries and llvmlite say that memory was refused."""


def is_refusal(error: BaseException | None) -> bool:
    """Tell whether an error, or an error that it was raised for, says that the system refused memory or a thread.

    A SystemError counts: code in C that gets no memory returns without an exception, and Python reports only that.
    """
    while error is not None:
        if isinstance(error, MemoryError | SystemError):
            return True
        if isinstance(error, OSError) and error.errno == errno.ENOMEM:
            return True
        if any(words in str(error) for words in _OF_OTHERS):
            return True
        error = error.__cause__ or error.__context__
    return False
