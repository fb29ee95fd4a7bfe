"""The configurations in a folder: each recognised file, its dialect, and the reasons for which others were skipped."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath

from proofka.model.deployment.dialects.component import Component, Found
from proofka.model.deployment.dialects.connect_layers import over_their_workers
from proofka.model.deployment.dialects.dialect import Dialect
from proofka.model.deployment.dialects.document import Document, read_document
from proofka.model.deployment.dialects.manifests import Manifest, manifest_in, with_releases
from proofka.model.deployment.dialects.misspelling import misspelt_keys
from proofka.model.deployment.dialects.other_products import Mention, mention_of, passed_over
from proofka.model.deployment.dialects.own import is_deployment
from proofka.model.deployment.dialects.placeholders import Fillings
from proofka.model.deployment.dialects.reading_along import without_those_read_along
from proofka.model.deployment.dialects.recognising import dialect_of
from proofka.model.deployment.dialects.telling import broken, tells
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.source import LARGEST

MOST_FILES = 20_000
"""The largest number of files of a folder of configurations."""

NOT_LOOKED_INTO = frozenset(
    {"node_modules", "vendor", "target", "build", "dist", "out", "venv", "__pycache__", "site-packages", "testdata"}
)
"""Folders of built or downloaded files."""


@dataclass(frozen=True)
class Unread:
    """A file that is of a dialect, or should be, and cannot be read. ``line``: the place of the error, or None."""

    file: str
    reason: str
    line: int | None = None


@dataclass(frozen=True)
class Findings:
    """The content of a folder or of one file: configurations, unreadable files, and the number of other files.

    ``deployments``: files in Proofka's own format. ``links``: links to folders, which are not followed. ``mentioning``:
    those of the other files that give brokers of Kafka in a form that no dialect knows, or that are another product's.
    """

    place: str
    found: tuple[Found, ...]
    unread: tuple[Unread, ...]
    others: int
    deployments: tuple[Path, ...] = ()
    links: tuple[str, ...] = ()
    mentioning: tuple[Mention, ...] = ()


def find(place: Path, fillings: Fillings) -> Findings:
    """Read a folder, or one file. Raises DeploymentError for one file that is no configuration."""
    nearby = _Nearby()
    if not place.is_dir():
        return Findings(str(place), over_their_workers((read_one(place, fillings),)), (), 0)
    found: list[Found] = []
    unread: list[Unread] = []
    own: list[Path] = []
    others = 0
    mentioning: list[Mention] = []
    passed: list[Path] = []
    manifests: list[Manifest] = []
    paths, links = _files_and_links(place)
    for path in paths:
        if is_of_tests(path.relative_to(place)):
            others += 1
            continue
        try:
            manifest = manifest_in(path)
            if manifest is not None:
                manifests.append(manifest)
            document = _looked_at(path)
            if document is not None and is_deployment(document):
                own.append(path)
                continue
            dialect = None if document is None else dialect_of(document)
            problem = None if document is None or dialect is not None else broken(document)
            if problem is not None:
                raise problem
            if document is None or dialect is None:
                others += 1
                mention = None if document is None else passed_over(document, path)
                mentioning += [] if mention is None else [mention]
                passed += [] if document is None else [path]
            else:
                found.append(dialect.read(nearby.with_others(document, path, dialect), fillings))
        except DeploymentError as error:
            unread.append(
                Unread(str(path), f"{error.key}: {error.message}" if error.key else error.message, error.line)
            )
    if not (found or own or unread):
        files = {0: "it has no files", 1: "1 file"}.get(others, f"{others} files")
        named = f"; {mentioning[0].file} {mentioning[0].sentence}" if mentioning else ""
        near = ((path, misspelt_keys(read_document(path))) for path in passed)
        named = next((f"; {path}: {told}" for path, told in near if told), named)
        what = f"has no known configuration of Kafka ({files}){named}; docs/dialects.md lists the known ones"
        raise DeploymentError(what, file=str(place))
    released = [with_releases(one, manifests) for one in found]
    layered = over_their_workers(without_those_read_along(released))
    once = tuple(_each_once(layered))
    return Findings(str(place), once, tuple(unread), others, tuple(own), links, tuple(mentioning))


def read_one(path: Path, fillings: Fillings) -> Found:
    """Return the content of one file. Raises DeploymentError if it is no known configuration."""
    document = read_document(path)
    dialect = dialect_of(document)
    if dialect is None:
        mention = mention_of(document, path)
        if mention is not None and mention.product is not None:
            raise DeploymentError(mention.sentence, file=str(path))
        what = "is no known configuration of Kafka; docs/dialects.md lists the known ones"
        more = misspelt_keys(document) or ("" if mention is None else mention.advice)
        raise DeploymentError(f"{what}; {more}" if more else what, file=str(path))
    return dialect.read(_Nearby().with_others(document, path, dialect), fillings)


@dataclass
class _Nearby:
    """The files beside those that are read, each read once for its folder."""

    folder: Path | None = None
    documents: dict[Path, Document | DeploymentError] = field(default_factory=dict)

    def with_others(self, document: Document, path: Path, dialect: Dialect) -> Document:
        """Return a document together with the other files of its application."""
        if path.parent != self.folder:
            self.folder, self.documents = path.parent, {}
        read: list[Document] = []
        unread: list[tuple[str, str]] = []
        for other in dialect.beside(path):
            if other not in self.documents:
                self.documents[other] = _read_or_not(other)
            one = self.documents[other]
            if isinstance(one, Document):
                read.append(one)
            else:
                unread.append((str(other), _without_file(one)))
        return replace(document, others=tuple(read), unread=tuple(unread)) if read or unread else document


def _read_or_not(path: Path) -> Document | DeploymentError:
    try:
        if not path.is_file():
            return DeploymentError("is no file", file=str(path))
        return read_document(path)
    except DeploymentError as error:
        return error
    except OSError as error:
        return DeploymentError(f"cannot be read: {error.strerror}", file=str(path))


def _without_file(error: DeploymentError) -> str:
    where = f"line {error.line}: " if error.line is not None else ""
    return where + (f"{error.key}: " if error.key else "") + error.message


def _each_once(found: Iterable[Found]) -> Iterator[Found]:
    """Yield the files with each shared component in the first of them only: files of one application have the same
    content."""
    known: set[tuple[object, ...]] = set()
    for one in found:
        if not one.together:
            yield one
            continue
        kept: list[Component] = []
        for component in one.components:
            # Components with values from files are equal only in files of one application, because places are part of
            # them.
            key = (component.role, component.name, component.topics, component.given)
            if key not in known or not any(given.origin.kind == "file" for given in component.given):
                known.add(key)
                kept.append(component)
        yield replace(one, components=tuple(kept))


def _files_and_links(place: Path) -> tuple[list[Path], tuple[str, ...]]:
    """Return the files to read, sorted, and links to folders, which are skipped because they can lead anywhere or in
    circles.

    Raises DeploymentError if there are too many files.
    """
    files: list[Path] = []
    links: list[str] = []
    for folder, folders, names in os.walk(place):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in NOT_LOOKED_INTO)
        links += [str(Path(folder, name)) for name in folders if Path(folder, name).is_symlink()]
        files += [Path(folder, name) for name in names if not name.startswith(".") or name.startswith(".env")]
        if len(files) > MOST_FILES:
            raise DeploymentError(f"has more than {MOST_FILES} files; name a folder with fewer", file=str(place))
    return sorted(files), tuple(links)


def is_of_tests(path: PurePath) -> bool:
    """Tell whether a path belongs to tests by a build tool's rules: Go's ``_test.go``, Maven's and Gradle's
    ``src/test``."""
    return path.name.endswith("_test.go") or "src/test/" in path.as_posix()


def _looked_at(path: Path) -> Document | None:
    """Return the text of a file; None if its name is no configuration's and it is no text or too large.

    Raises DeploymentError for a file whose name is a configuration's.
    """
    try:
        if not path.is_file():
            raise DeploymentError("is no regular file", file=str(path))
        if path.stat().st_size > LARGEST:
            raise DeploymentError(f"is larger than {LARGEST // 1_000_000} MB", file=str(path))
        return read_document(path)
    except (DeploymentError, OSError) as error:
        if not tells(path):
            return None
        if isinstance(error, DeploymentError):
            raise
        raise DeploymentError(f"cannot be read: {error.strerror}", file=str(path)) from None
