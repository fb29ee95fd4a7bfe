"""The folder that tools may read, the limits of each call, and the results of the last checks."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from proofka.checker.budget import Budget
from proofka.checker.cli.assistants.errors import BadInput, OutsideRoot
from proofka.checker.cli.last_results import LastResults
from proofka.checker.source import Source, narrowed
from proofka.model.deployment.deployment import Deployment
from proofka.model.input.input_error import InputError
from proofka.properties.verdict import Result

MOST_KEPT = 16
"""The number of results that are kept, so that a trace needs no second check."""

MOST_FAULTS = 4
"""The largest number of faults that a call can ask for."""

MOST_FILES = 10_000
"""The largest number of files in a folder that is checked."""


@dataclass(frozen=True)
class Looked:
    """A deployment and its result."""

    deployment: Deployment
    result: Result


@dataclass(frozen=True)
class Question:
    """The question of a check.

    ``faults``: the number of faults; None for every single one, and larger sets in the time that is left. ``require``:
    the required properties; empty for those of the file. ``kafka`` and ``assume``: as for proofka check.
    """

    file: str
    faults: int | None = None
    require: tuple[str, ...] = ()
    kafka: str | None = None
    assume: tuple[str, ...] = ()


class Workspace:
    """The files below ``root``, which are read and never written.

    ``seconds``: the limit of each call. ``memory``: the limit of each exploration, in bytes.
    """

    def __init__(self, root: Path, seconds: float, memory: int) -> None:
        self.root = root
        self.seconds = seconds
        self._memory = memory
        self._kept: LastResults[object, Looked] = LastResults(MOST_KEPT)

    def place(self, file: str) -> Path:
        """Return the path of a file or folder below the root. Raises :class:`OutsideRoot` and :class:`BadInput`."""
        root = self.root.resolve()
        path = (root / file).resolve()
        if not path.is_relative_to(root):
            raise OutsideRoot(f"{file}: stands outside {root}; start proofka mcp with a --root above the file")
        if not path.is_file() and not path.is_dir():
            raise BadInput(f"{file}: no such file or folder below {root}")
        return path

    def read(self, question: Question) -> Deployment:
        """Return the deployment that a question is about. Raises :class:`BadInput`, and errors of :meth:`place`."""
        if question.faults is not None and not 0 <= question.faults <= MOST_FAULTS:
            raise BadInput(f"faults={question.faults}: a call explores 0 to {MOST_FAULTS} faults")
        source = Source(self.place(question.file), kafka=question.kafka, assume=question.assume)
        faults = None if question.faults is None else str(question.faults)
        try:
            return narrowed(source.read(), faults, list(question.require))
        except (InputError, OSError) as error:
            raise BadInput(str(error)) from error

    def budget(self, stop: threading.Event) -> Budget:
        """Return the budget of a call. ``stop``: ends the call."""
        return Budget(seconds=self.seconds, memory=self._memory, stop=stop)

    def checked(self, question: Question, stop: threading.Event) -> Looked:
        """Return the deployment and its result, of an earlier call where no file has changed since."""
        from proofka.checker.check import check

        key = (question, tuple(_stamps(self.place(question.file))))
        if (kept := self._kept.get(key)) is not None:
            return kept
        deployment = self.read(question)
        looked = Looked(deployment, check(deployment, budget=self.budget(stop)))
        if not stop.is_set():
            self._kept.keep(key, looked)
        return looked


def _stamps(path: Path) -> Iterator[tuple[str, int, int]]:
    """Yield the name, the time of the last change and the size of each file. Raises :class:`BadInput` for too many."""
    if path.is_file():
        yield _stamp(path)
        return
    count = 0
    for folder, _, names in os.walk(path):
        for name in sorted(names):
            count += 1
            if count > MOST_FILES:
                raise BadInput(f"{path.name}: has more than {MOST_FILES:,} files; name a smaller folder")
            yield _stamp(Path(folder, name))


def _stamp(path: Path) -> tuple[str, int, int]:
    about = path.stat()
    return str(path), about.st_mtime_ns, about.st_size
