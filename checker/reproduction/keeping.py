"""A cluster that is kept after the outcome, until the user ends it."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterable
from typing import Callable


def wait_for_an_end(lines: Iterable[str], tell: Callable[[str], None]) -> None:
    """Tell how the kept cluster is reached, and wait for Ctrl-C, or for the end of the input at a terminal."""
    for line in lines:
        tell(line)
    tell("Ctrl-C ends the cluster and removes its folder")
    try:
        if sys.stdin is not None and sys.stdin.isatty():
            sys.stdin.read()
        else:
            signal.pause()
    except KeyboardInterrupt:
        return
