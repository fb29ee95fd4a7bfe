"""The text of an editor's document, which need not be saved, as deployments and problems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from proofka.checker.source import Source
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.setting import Setting
from proofka.model.input.input_error import InputError

PROJECT_FILES = ("proofka.yaml", "proofka.yml")
"""The names of a project file."""

WITHOUT_NAME = "document.yaml"
"""The file name of a document that has none."""


@dataclass(frozen=True)
class Problem:
    """A problem of a text. ``line`` counts from 1; ``code`` is empty if the problem has none."""

    line: int
    text: str
    code: str = ""
    is_error: bool = True


@dataclass(frozen=True)
class Reading:
    """The content of a text: problems, and the deployments that can be checked.

    The origins of settings name ``file``, a path that no longer exists.
    """

    problems: tuple[Problem, ...] = ()
    deployments: tuple[Deployment, ...] = ()
    file: str = ""

    def settings_at(self, line: int) -> tuple[Setting, ...]:
        """Return the effective settings whose values stand on a line, which counts from 1."""
        return tuple(one for one in self._settings() if one.origin.file == self.file and one.origin.line == line)

    def settings_named(self, key: str) -> tuple[Setting, ...]:
        """Return the effective settings with a key, wherever their values come from."""
        return tuple(one for one in self._settings() if one.key == key)

    def _settings(self) -> Iterator[Setting]:
        return iter(dict.fromkeys(setting for one in self.deployments for setting in one.settings))


def read_text(name: str, text: str) -> Reading:
    """Read the text of a document with this file name.

    The readers of Proofka read files, so the text is written into a folder of its own for this time. Other files of the
    pipeline are not read: a value that stands in them is missing here.
    """
    with TemporaryDirectory(prefix="proofka-editor-") as folder:
        path = Path(folder) / (Path(name).name or WITHOUT_NAME)
        path.write_text(text, encoding="utf-8", errors="replace")
        if path.name in PROJECT_FILES:
            return _read_project(path)
        try:
            sought = Source(path).seek()
            if sought is None:
                return Reading((), (Source(path).read(),), str(path))
        except DeploymentError as error:
            return Reading(_problems((error, *error.others), folder), (), str(path))
        wrong = _problems(sought.problems, folder)
        beside = (replace(one, is_error=False) for one in _problems(sought.besides, folder))
        return Reading((*wrong, *beside), sought.deployments, str(path))


def _read_project(path: Path) -> Reading:
    from proofka.checker.project.reading import read_project

    try:
        read_project(path)
    except InputError as error:
        return Reading(_problems((error, *getattr(error, "others", ())), str(path.parent)), (), str(path))
    return Reading(file=str(path))


def _problems(errors: Iterable[Exception], folder: str) -> tuple[Problem, ...]:
    """Return errors as problems without the place, which the editor shows, each once."""
    found = [
        Problem(getattr(error, "line", None) or 1, _text(error, folder), str(getattr(error, "code", "") or ""))
        for error in errors
    ]
    return tuple(dict.fromkeys(found))


def _text(error: Exception, folder: str) -> str:
    key, message = getattr(error, "key", None), getattr(error, "message", None) or str(error)
    return (f"{key}: {message}" if key else message).replace(f"{folder}/", "")
