"""The folder of a distributed search: whose it is, and how far the search got.

It belongs to one question and one version of the program, and to one run at a time. What a superstep came to is noted
here only when every partition has committed it, so a run that is killed goes on from its last whole superstep.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from checker.checkpoint import LOCK, CheckpointError, code_fingerprint, lock_folder
from checker.combinations import Combination
from checker.distributed.plan import named, report_from
from checker.distributed.spread import SpreadStates
from checker.distributed.writing import read_json, write_json

RUN, SETTINGS, PROGRESS, FOUND, HANDING_OVER = "run.json", "settings.json", "progress.json", "found", "handing-over"


class WorkFolder:
    """A folder that belongs to the question ``identity``.

    Raises :class:`checker.checkpoint.CheckpointError` where it belongs to another one, to none, or is in use.
    """

    def __init__(self, path: Path, identity: str) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        whose = self._read(path / RUN)
        # A run that was killed when it began leaves its unfinished file.
        if whose is None and any(file.name != LOCK and RUN not in file.name for file in path.iterdir()):
            raise CheckpointError(f"{path}: is not empty and holds no checkpoint; name another folder")
        self._lock: TextIO = lock_folder(path)
        mine = {"identity": f"{identity} {code_fingerprint()}"}
        if whose is None:
            write_json(path / RUN, mine)
        elif whose != mine:
            raise CheckpointError(f"{path}: is the checkpoint of another question; name another folder")

    def exploration(self, number: int, *, anew: bool = False) -> ExplorationFolder:
        """The folder of one of the run's explorations; ``anew``: without what another left there."""
        folder = self.path / f"exploration-{number}"
        if anew and folder.exists():
            shutil.rmtree(folder)
        return ExplorationFolder(folder)

    def close(self) -> None:
        """Let others use the folder."""
        self._lock.close()

    @staticmethod
    def _read(path: Path) -> Any:
        try:
            return read_json(path)
        except ValueError as damaged:
            raise CheckpointError(f"{damaged}; delete the folder to start anew") from None


class ExplorationFolder:
    """How far one exploration got."""

    def __init__(self, path: Path) -> None:
        self.path = path
        (path / FOUND).mkdir(parents=True, exist_ok=True)

    def settings(self, asked: str) -> dict[str, Any] | None:
        """What was chosen when this very question was begun, or None: what is here of another question is removed.

        Which exploration of a run has which number depends on what those before it found, and so on their limits.
        """
        known: dict[str, Any] | None = WorkFolder._read(self.path / SETTINGS)
        if known is not None and known["asked"] == asked and not (self.path / HANDING_OVER).exists():
            return known
        shutil.rmtree(self.path)
        (self.path / FOUND).mkdir(parents=True)
        return None

    def begin(self, asked: str, chosen: Mapping[str, Any]) -> None:
        """Keep what was chosen for a question that begins."""
        write_json(self.path / SETTINGS, {**chosen, "asked": asked})

    @contextmanager
    def handing_over(self) -> Iterator[None]:
        """What is written within the block counts only if it comes to its end."""
        (self.path / HANDING_OVER).touch()
        yield
        (self.path / HANDING_OVER).unlink()

    def progress(self) -> tuple[int, list[SpreadStates]] | None:
        """What :meth:`note` noted last."""
        noted = WorkFolder._read(self.path / PROGRESS)
        return None if noted is None else (noted["superstep"], [_from_document(one) for one in noted["found"]])

    def note(self, superstep: int, found: Mapping[Combination, SpreadStates]) -> None:
        """A superstep is whole: what it came to for each combination that is searched."""
        spread = [_to_document(states) for states in found.values()]
        write_json(self.path / PROGRESS, {"superstep": superstep, "found": spread})

    def keep(self, states: SpreadStates) -> None:
        """A combination was searched whole."""
        write_json(self.path / FOUND / f"{named(states.combination)}.json", _to_document(states))

    def kept(self, combination: Combination) -> SpreadStates | None:
        """What is known of a combination that was searched whole, or None if it was not."""
        file = self.path / FOUND / f"{named(combination)}.json"
        document = WorkFolder._read(file)
        if document is None:
            return None
        states = _from_document(document)
        if states.combination != combination:
            raise CheckpointError(f"{file}: is of other faults; delete the folder to start anew")
        return states

    def forget_messages(self, before: int) -> None:
        """Remove what was sent before a superstep that is whole."""
        for folder in (self.path / "messages").glob("*"):
            if int(folder.name) < before:
                shutil.rmtree(folder, ignore_errors=True)


def _to_document(states: SpreadStates) -> dict[str, Any]:
    return {**vars(states), "reports": [vars(report) for report in states.reports]}


def _from_document(document: Mapping[str, Any]) -> SpreadStates:
    """What :meth:`ExplorationFolder.note` or :meth:`ExplorationFolder.keep` wrote."""
    reports = tuple(report_from(report) for report in document["reports"])
    return SpreadStates(tuple(document["combination"]), document["complete"], document["sought"], reports)
