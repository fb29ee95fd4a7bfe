"""The folder of a distributed search: its owner, and the progress of the search.

The folder belongs to one question and one version of the program, and to one run at a time. The outcome of a superstep
is recorded here only after every partition has committed it. So a killed run continues from its last complete
superstep.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from proofka.checker.checkpoint import LOCK, CheckpointError, code_fingerprint, lock_folder
from proofka.checker.combinations import Combination
from proofka.checker.distributed.plan import named, report_from
from proofka.checker.distributed.spread import SpreadStates
from proofka.checker.distributed.writing import read_json, write_json

RUN, SETTINGS, PROGRESS, FOUND, HANDING_OVER = "run.json", "settings.json", "progress.json", "found", "handing-over"


class WorkFolder:
    """A folder that belongs to the question ``identity``.

    Raise :class:`checker.checkpoint.CheckpointError` if the folder belongs to another question, to none, or is in use.
    """

    def __init__(self, path: Path, identity: str) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        whose = self._read(path / RUN)
        # A run that was killed at its beginning leaves its unfinished file.
        if whose is None and any(file.name != LOCK and RUN not in file.name for file in path.iterdir()):
            raise CheckpointError(f"{path}: is not empty and holds no checkpoint; name another folder")
        self._lock: TextIO = lock_folder(path)
        mine = {"identity": f"{identity} {code_fingerprint()}"}
        if whose is None:
            write_json(path / RUN, mine)
        elif whose != mine:
            raise CheckpointError(f"{path}: is the checkpoint of another question; name another folder")

    def exploration(self, number: int, *, anew: bool = False) -> ExplorationFolder:
        """Return the folder of one of the run's explorations; ``anew``: without the content of an earlier
        exploration.
        """
        folder = self.path / f"exploration-{number}"
        if anew and folder.exists():
            shutil.rmtree(folder)
        return ExplorationFolder(folder)

    def close(self) -> None:
        """Release the folder to other runs."""
        self._lock.close()

    @staticmethod
    def _read(path: Path) -> Any:
        try:
            return read_json(path)
        except ValueError as damaged:
            raise CheckpointError(f"{damaged}; delete the folder to start again") from None


class ExplorationFolder:
    """The progress of one exploration."""

    def __init__(self, path: Path) -> None:
        self.path = path
        (path / FOUND).mkdir(parents=True, exist_ok=True)

    def settings(self, asked: str) -> dict[str, Any] | None:
        """Return the settings of this question's begun exploration, or None.

        The data of another question are removed.

        The number of an exploration in a run depends on the results of earlier explorations, and so on their limits.
        """
        known: dict[str, Any] | None = WorkFolder._read(self.path / SETTINGS)
        if known is not None and known["asked"] == asked and not (self.path / HANDING_OVER).exists():
            return known
        shutil.rmtree(self.path)
        (self.path / FOUND).mkdir(parents=True)
        return None

    def begin(self, asked: str, chosen: Mapping[str, Any]) -> None:
        """Store the settings of a question that begins."""
        write_json(self.path / SETTINGS, {**chosen, "asked": asked})

    @contextmanager
    def handing_over(self) -> Iterator[None]:
        """Make the data written within the block valid only if the block ends normally."""
        (self.path / HANDING_OVER).touch()
        yield
        (self.path / HANDING_OVER).unlink()

    def progress(self) -> tuple[int, list[SpreadStates]] | None:
        """Return the last record of :meth:`note`."""
        noted = WorkFolder._read(self.path / PROGRESS)
        return None if noted is None else (noted["superstep"], [_from_document(one) for one in noted["found"]])

    def note(self, superstep: int, found: Mapping[Combination, SpreadStates]) -> None:
        """Record a complete superstep: its outcome for each searched combination."""
        spread = [_to_document(states) for states in found.values()]
        write_json(self.path / PROGRESS, {"superstep": superstep, "found": spread})

    def keep(self, states: SpreadStates) -> None:
        """Record a completely searched combination."""
        write_json(self.path / FOUND / f"{named(states.combination)}.json", _to_document(states))

    def kept(self, combination: Combination) -> SpreadStates | None:
        """Return the states of a completely searched combination, or None."""
        file = self.path / FOUND / f"{named(combination)}.json"
        document = WorkFolder._read(file)
        if document is None:
            return None
        states = _from_document(document)
        if states.combination != combination:
            raise CheckpointError(f"{file}: belongs to other faults; delete the folder to start again")
        return states

    def forget_messages(self, before: int) -> None:
        """Remove the rows sent before a complete superstep."""
        for folder in (self.path / "messages").glob("*"):
            if int(folder.name) < before:
                shutil.rmtree(folder, ignore_errors=True)


def _to_document(states: SpreadStates) -> dict[str, Any]:
    return {**vars(states), "reports": [vars(report) for report in states.reports]}


def _from_document(document: Mapping[str, Any]) -> SpreadStates:
    """Return the states from a document of :meth:`ExplorationFolder.note` or :meth:`ExplorationFolder.keep`."""
    reports = tuple(report_from(report) for report in document["reports"])
    known = document["complete"], document["sought"]
    return SpreadStates(tuple(document["combination"]), *known, reports, document["cut_short"])
