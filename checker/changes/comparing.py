"""The pipelines of a check beside those of an earlier commit: which are touched, and what was known of them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import chdir
from dataclasses import dataclass, field, replace
from pathlib import Path

from proofka.checker.changes.baseline import Key
from proofka.checker.changes.errors import OutsideRepository
from proofka.checker.changes.repository import Repository
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.question import question
from proofka.model.deployment.required_properties import ASKED_BY_DEFAULT
from proofka.model.input.input_error import InputError
from proofka.properties.news import KnownVerdicts, known_of
from proofka.properties.verdict import Result

Pipelines = Mapping[Key, Deployment]
"""Deployments by the path and the name of each pipeline."""


@dataclass(frozen=True)
class Then:
    """The pipelines of the commit. ``asked``: with what the project file says now; ``said``: with what it said then.

    ``unread``: errors of files that could not be read as they were.
    """

    asked: Pipelines
    said: Pipelines
    unread: tuple[str, ...] = ()


def pipelines_then(
    repository: Repository, read: Callable[[], tuple[Pipelines, Iterable[InputError]]], project: Path | None
) -> Then:
    """Read the pipelines as they were at the commit, by the same relative paths. ``project``: the project file."""
    here = Path.cwd().resolve()
    with repository.files() as tree:
        folder = tree / _inside(here, repository.root)
        if not folder.is_dir():
            return Then({}, {})
        with chdir(folder):
            said, problems = _read_or_nothing(read)
            if project is None or _same(here / project, project):
                return Then(said, said, tuple(map(str, problems)))
            project.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(here / project, project)
            asked, problems = _read_or_nothing(read)
    return Then(asked, said, tuple(map(str, problems)))


def _read_or_nothing(
    read: Callable[[], tuple[Pipelines, Iterable[InputError]]],
) -> tuple[Pipelines, Iterable[InputError]]:
    try:
        return read()
    except InputError as error:
        return {}, (error, *error.others)


def _same(now: Path, then: Path) -> bool:
    return then.is_file() and then.read_bytes() == now.read_bytes()


def _inside(path: Path, root: Path) -> Path:
    if not path.is_relative_to(root):
        raise OutsideRepository(f"{path}: is not in the repository {root}; name a path in the repository")
    return path.relative_to(root)


def files_of(deployment: Deployment, path: Path | None) -> frozenset[Path]:
    """Return the absolute paths of the files of a pipeline: its own file, and those from which a value came."""
    origins = [one.origin for one in deployment.settings] + [one.origin for one in deployment.ignored]
    names = {origin.file for origin in origins if origin.file is not None}
    named = {Path(name) for name in names} | ({path} if path is not None else set())
    return frozenset(one for file in named for one in (file.parent.resolve() / file.name, file.resolve()))


def is_touched(deployment: Deployment, files: Iterable[Path], changed: frozenset[Path], key: Key, then: Then) -> bool:
    """Tell whether changes touch a pipeline: one of its files, or what is asked of it."""
    if not changed.isdisjoint(files):
        return True
    before = then.said.get(key)
    if before is None:
        return True
    return question(before) != question(deployment) or before.require != deployment.require


@dataclass
class Earlier:
    """The verdicts on pipelines at the commit; each question is explored at most once.

    ``explore`` returns the result of a deployment.
    """

    where: str
    then: Then
    explore: Callable[[Deployment], Result]
    _results: dict[Deployment, Result] = field(default_factory=dict)

    def known(self, key: Key, now: Deployment, result: Result) -> KnownVerdicts:
        """Return the verdicts on a pipeline at the commit, for the questions that were asked then too.

        A property that was not required then is new, and so is every property if the project file has changed the
        faults, the assumptions or the bounds.
        """
        asked, said = self.then.asked.get(key), self.then.said.get(key)
        if asked is None or said is None or question(asked) != question(said):
            return {}
        newly = set(now.require) - set(said.require)
        names = [verdict.property for verdict in result.verdicts if verdict.property not in newly]
        return known_of(self._result(asked, now, result), self.where, names)

    def _result(self, asked: Deployment, now: Deployment, result: Result) -> Result:
        if question(asked) == question(now):
            return result
        fitting = tuple(name for name in now.require if name in ASKED_BY_DEFAULT or name in asked.require)
        alike = replace(question(asked), name=asked.name, require=fitting)
        if alike not in self._results:
            self._results[alike] = self.explore(replace(asked, require=fitting))
        return self._results[alike]


def gone(then: Then, now: Iterable[Key]) -> Iterator[str]:
    """Yield the names of the pipelines that only the commit has, each with its path.

    A file that is there and cannot be read has an error of its own.
    """
    keys = set(now)
    paths = {path for path, _ in keys}
    for path, name in sorted(set(then.said) - keys):
        if path in paths or not Path(path).exists():
            yield f"{name} ({path})"
