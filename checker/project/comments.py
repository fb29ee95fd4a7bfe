"""Comments in checked files that accept a property: ``# proofka: accept no-reprocessing until 2027-01-31, reason``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from proofka.checker.project.errors import ProjectError
from proofka.checker.project.reading import date_of
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.hiding import printable
from proofka.model.deployment.required_properties import KNOWN_PROPERTIES
from proofka.model.deployment.source import decode_utf8, read_bytes
from proofka.properties.accepted import Acceptance

FORM = "proofka: accept PROPERTY until YYYY-MM-DD, reason"
"""The form of the comment, without its sign."""

_COMMENT = re.compile(r"(?:#|//|/\*|<!--|--|;|!|^\s*\*)\s*proofka:\s*(?P<word>\S+)(?P<rest>.*)")
_ACCEPTS = re.compile(r"\s+(?P<property>\S+)\s+until\s+(?P<until>[^\s,]+)\s*,\s*(?P<reason>\S.*?)\s*(?:\*/|-->)?\s*$")
_VERB = "accept"
_LIKE = 0.7
"""The least similarity at which another word counts as a misspelt one."""


@dataclass(frozen=True)
class Comments:
    """The acceptances in the comments of a deployment's files, and the comments that cannot be understood."""

    accepted: tuple[Acceptance, ...]
    problems: tuple[ProjectError, ...]


def comments_of(deployment: Deployment, file: Path | None) -> Comments:
    """Return what the comments accept in the files of a deployment: those from which its values came, and ``file``."""
    origins = [one.origin for one in deployment.settings] + [one.origin for one in deployment.ignored]
    names = {origin.file for origin in origins if origin.file is not None}
    names |= {str(file)} if file is not None else set()
    found = [one for name in sorted(names) if Path(name).is_file() for one in _in_file(name)]
    return Comments(
        tuple(one for one in found if isinstance(one, Acceptance)),
        tuple(one for one in found if isinstance(one, ProjectError)),
    )


def _in_file(name: str) -> Iterator[Acceptance | ProjectError]:
    try:
        text = decode_utf8(read_bytes(Path(name)), Path(name))
    except DeploymentError:
        return  # The reader of the deployment has taken or refused this file by its own rules.
    yield from _in_lines(text.splitlines(), name)


def _in_lines(lines: Iterable[str], name: str) -> Iterator[Acceptance | ProjectError]:
    for number, line in enumerate(lines, 1):
        comment = _COMMENT.search(line)
        if comment is None:
            continue
        if comment["word"] == _VERB:
            yield _acceptance(comment["rest"], name, number)
        elif get_close_matches(comment["word"], [_VERB], cutoff=_LIKE):
            yield _wrong(f"unknown word {printable(comment['word'])}; did you mean accept?", name, number)


def _acceptance(rest: str, name: str, line: int) -> Acceptance | ProjectError:
    found = _ACCEPTS.fullmatch(rest)
    if found is None:
        return _wrong(f"write it as # {FORM}", name, line)
    prop, until = found["property"], date_of(found["until"])
    if prop not in KNOWN_PROPERTIES:
        near = get_close_matches(prop, KNOWN_PROPERTIES, n=1)
        more = f"did you mean {near[0]}?" if near else f"choose from {', '.join(KNOWN_PROPERTIES)}"
        return _wrong(f"unknown property {printable(prop)}; {more}", name, line)
    if until is None:
        return _wrong(f"{printable(found['until'])} is no day; write it as in 2027-01-31", name, line)
    return Acceptance(prop, until, printable(found["reason"]), name, line)


def _wrong(message: str, name: str, line: int) -> ProjectError:
    return ProjectError("W13", message, file=name, line=line, key="comment proofka: accept")
