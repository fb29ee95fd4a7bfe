"""The errors of a throw-away cluster: each has a code, and its message says what to do."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

PROGRAMS = Path(__file__).parent / "programs.csv"
"""The table of the programs that a cluster needs, with the ways to install them."""


class ClusterError(Exception):
    """An error of the cluster or of its programs; ``str()`` ends with the code."""

    code: ClassVar[str] = "T00"

    def __str__(self) -> str:
        return f"{super().__str__()} ({self.code})"


class MissingProgram(ClusterError):
    """A program that this machine lacks. ``program``: its name in the table; ``instead``: what was found instead."""

    code = "T01"

    def __init__(self, program: str, instead: str = "") -> None:
        super().__init__(program, instead)
        self.program = program
        self.instead = instead

    def __str__(self) -> str:
        with PROGRAMS.open(encoding="utf-8", newline="") as file:
            row = next(row for row in csv.DictReader(file) if row["program"] == self.program)
        instead = f" ({self.instead})" if self.instead else ""
        return f"{row['needed']} was not found{instead}: {row['remedy']} ({self.code})"


class JarsUnavailable(ClusterError):
    """Jars of a release that are neither in the cache nor to be had from the repository."""

    code = "T02"


class CannotStart(ClusterError):
    """A process that does not start, or that ends before it is ready."""

    code = "T03"


class NotSeen(ClusterError):
    """An observation that did not come in time. ``what``: the observation; ``waited``: seconds."""

    code = "T04"

    def __init__(self, what: str, waited: float) -> None:
        super().__init__(what, waited)
        self.what = what
        self.waited = waited

    def __str__(self) -> str:
        return (
            f"not seen within {self.waited:g} s: {self.what}; a loaded machine needs more time, and the logs in the "
            f"cluster's folder say more ({self.code})"
        )


class NotRemoved(ClusterError):
    """A folder or a process of the cluster that is still there after the end."""

    code = "T05"


class MissingLibrary(ClusterError):
    """A client library that this machine lacks. ``install``: the command that installs it."""

    code = "T20"

    def __init__(self, library: str, install: str) -> None:
        super().__init__(library, install)
        self.library = library
        self.install = install

    def __str__(self) -> str:
        return f"the client library {self.library} is not there: {self.install} ({self.code})"


class ClientEnded(ClusterError):
    """A client program that ended, while an event of the client or an answer was awaited."""

    code = "T21"


class CommandFailed(ClusterError):
    """A command that a client's library refused with an exception. ``event``: what the client said."""

    code = "T22"

    def __init__(self, client: str, event: Mapping[str, Any]) -> None:
        super().__init__(client, event)
        self.client = client
        self.event = event

    def __str__(self) -> str:
        said = f"{self.event.get('error')} [{self.event.get('code')}]"
        return f"{self.client} failed at {self.event.get('do')!r}: {said} ({self.code})"
