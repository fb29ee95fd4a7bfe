"""The program ``proofka``, installed or as ``python -m checker``: it hears requests to stop before it is loaded."""

import signal

EXIT_INTERRUPTED = 130
"""The exit status of a program that was asked to stop before it had found anything: that of an interrupt in a shell."""


REQUESTS = (signal.SIGINT, signal.SIGTERM)
"""The signals that ask the program to stop: Ctrl-C, and what ``timeout`` and a container's end send."""


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
    """End the process at once: nothing is begun that would have to be tidied up."""
    import os

    _tell()
    os._exit(EXIT_INTERRUPTED)


def _tell() -> None:
    import os

    os.write(2, b"interrupted\n")


if __name__ == "__main__":
    main()
