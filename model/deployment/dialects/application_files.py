"""The files that a framework reads as one application: ``application.yml`` and similar, and those of profiles.

Spring Boot (``StandardConfigDataLocationResolver.getReferencesForConfigName``): in one place ``.properties`` outranks
``.yml``, which outranks ``.yaml``; ``config/`` outranks its parent folder; a profile's files outrank those without a
profile. If the tests have a file of the same name, only the tests' file is read. Quarkus reads the files of one folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath

from proofka.model.deployment.dialects.document import Document

APPLICATION, BOOTSTRAP = "application", "bootstrap"
CONFIG = "config"
MOST_FILES = 1_000
"""The largest number of files of an application; in a folder with more names, it is unknown which files count."""

ALONE = (
    "a profile's file, which an application lays over its application.*; there is none here, so this file is assumed "
    "to be complete"
)
UNREAD = "belongs to the same application but cannot be read: {}"

_NAME = re.compile(r"(application|bootstrap)(?:-([\w.-]+?))?\.(properties|ya?ml)(.*)", re.ASCII)
_MAIN, _TEST = ("src", "main", "resources"), ("src", "test", "resources")
_FORMS = ("yaml", "yml", "properties")


@dataclass(frozen=True)
class FileName:
    """``application-prod.yml.j2``: its stem, its profile (empty without one), its form, and the rest of the name."""

    stem: str
    profile: str
    form: str
    rest: str


def name_of(name: str) -> FileName | None:
    """Return the parts of a file's name; None for a name that no framework reads by itself.

    >>> name_of("application-prod.yml")
    FileName(stem='application', profile='prod', form='yml', rest='')
    """
    found = _NAME.fullmatch(name)
    return None if found is None else FileName(found[1], found[2] or "", found[3].lower(), found[4])


def rank(document: Document) -> tuple[bool, bool, bool, int]:
    """Return the rank of a file within a Spring application: a file of higher rank outranks the others."""
    path = PurePath(document.file)
    name = name_of(document.name)
    if name is None:
        return (True, True, True, 0)
    return (name.stem == APPLICATION, bool(name.profile), path.parent.name == CONFIG, _FORMS.index(name.form))


def beside_for_spring(path: Path) -> list[Path]:
    """Return the other files of a Spring application: those without a profile, and those of the same profile.

    For a file without a profile, return all files, because its documents can belong to any profile.
    """
    folder = path.parent
    folders = [folder.parent, folder] if folder.name == CONFIG else [folder, folder / CONFIG]
    names: dict[tuple[str, str], Path] = {}
    for one in folders:
        for place in (_in_main(one), one):
            names |= {} if place is None else {(place.name, file.name): file for file in _files_like(path, place)}
    return [file for file in names.values() if file != path]


def beside_for_quarkus(path: Path) -> list[Path]:
    """Return the other files of a Quarkus application, in the same way."""
    return [file for file in _files_like(path, path.parent) if file != path and file.name.startswith(APPLICATION)]


def _in_main(folder: Path) -> Path | None:
    """Return the application's folder that a folder of tests belongs to; None for any other folder."""
    parts = folder.parts
    inner = (CONFIG,) if folder.name == CONFIG else ()
    if parts[len(parts) - len(_TEST) - len(inner) :] != (*_TEST, *inner):
        return None
    return Path(*parts[: len(parts) - len(_TEST) - len(inner)], *_MAIN, *inner)


def _files_like(path: Path, folder: Path) -> Iterator[Path]:
    name = name_of(path.name.lower())
    if name is None:
        return
    try:
        files = sorted(file for file in folder.iterdir() if _NAME.fullmatch(file.name))
    except OSError:
        return
    for file in files[:MOST_FILES]:
        other = name_of(file.name)
        if other is None or other.rest != name.rest:
            continue
        if not name.profile or other.profile in ("", name.profile):
            yield file
