"""The program ``proofka``, installed or as ``python -m proofka``; requests to stop are handled before the program
loads.
"""

import signal
from typing import NoReturn

EXIT_INTERRUPTED = 130
"""Exit status of a program that was asked to stop before it found anything; shells use the same status for an
interrupt."""

EXIT_INTERNAL_ERROR = 70
"""Exit status of a program that an unexpected error ended. Python itself would end with 1, which means "violated"; 70
is the number in ``sysexits.h`` for an error inside a program."""

REPORT = "proofka: internal error: nothing more is decided; please report the lines above, and the command\n"
"""Last line of a program that an unexpected error ended."""

REQUESTS = (signal.SIGINT, signal.SIGTERM)
"""Signals that ask the program to stop: Ctrl-C, and the signal that ``timeout`` and a stopping container send."""


def main() -> None:
    """Run the command line. A request to stop that no command can answer yet ends the program with one line."""
    heard = [number for number in REQUESTS if signal.getsignal(number) in (signal.default_int_handler, signal.SIG_DFL)]
    for number in heard:
        signal.signal(number, _end)
    try:
        from proofka.checker.cli import main as run

        for number in heard:
            signal.signal(number, signal.default_int_handler)
        run()
    except SystemExit as end:
        if end.code == EXIT_INTERRUPTED:
            _tell()
        raise
    except KeyboardInterrupt:
        _tell()
        raise SystemExit(EXIT_INTERRUPTED) from None
    except Exception as error:
        _end_by(error)


def _end_by(error: Exception) -> NoReturn:
    """End the program because of an unexpected error, with a status that says nothing about a property."""
    status = EXIT_INTERNAL_ERROR
    try:
        import os
        import traceback

        from proofka.checker.refused_memory import ADVICE, EXIT_NO_MEMORY, is_refusal

        if is_refusal(error):
            status = EXIT_NO_MEMORY
            os.write(2, f"{ADVICE}\n".encode())
        else:
            traceback.print_exception(error)
            os.write(2, REPORT.encode())
    finally:
        raise SystemExit(status)


def _end(number: int, frame: object) -> None:
    """End the process at once; nothing was begun that needs cleaning up."""
    import os

    _tell()
    os._exit(EXIT_INTERRUPTED)


def _tell() -> None:
    import os

    os.write(2, b"interrupted\n")


if __name__ == "__main__":
    main()
