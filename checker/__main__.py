"""The program ``proofka``, installed or as ``python -m checker``: it hears interrupts before it is loaded."""

import signal

EXIT_INTERRUPTED = 130
"""The exit status of a program that Ctrl-C ended before it had found anything: 128 and the number of the signal."""


def main() -> None:
    """Run the command line. An interrupt before a command can answer it ends the program with one line."""
    heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heard:
        signal.signal(signal.SIGINT, _end)
    from checker.cli import main as run

    if heard:
        signal.signal(signal.SIGINT, signal.default_int_handler)
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
