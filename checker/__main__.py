"""The program ``proofka``, installed or as ``python -m checker``; requests to stop are handled before the program
loads.
"""

import signal

EXIT_INTERRUPTED = 130
"""Exit status of a program that was asked to stop before it found anything; shells use the same status for an
interrupt."""


REQUESTS = (signal.SIGINT, signal.SIGTERM)
"""Signals that ask the program to stop: Ctrl-C, and the signal that ``timeout`` and a stopping container send."""


def main() -> None:
    """Run the command line. A request to stop that no command can answer yet ends the program with one line."""
    heard = [number for number in REQUESTS if signal.getsignal(number) in (signal.default_int_handler, signal.SIG_DFL)]
    for number in heard:
        signal.signal(number, _end)
    from checker.cli import main as run

    for number in heard:
        signal.signal(number, signal.default_int_handler)
    try:
        run()
    except SystemExit as end:
        if end.code == EXIT_INTERRUPTED:
            _tell()
        raise
    except KeyboardInterrupt:
        _tell()
        raise SystemExit(EXIT_INTERRUPTED) from None


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
