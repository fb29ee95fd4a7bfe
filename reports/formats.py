"""The formats of reports: by the ending of a file's name, or pages for each deployment in a folder."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from proofka.model.deployment.deployment import Deployment
from proofka.properties.news import News
from proofka.properties.verdict import Result


class UnknownFormat(Exception):
    """The ending of a report's name is unknown, or packages are missing; the message says which."""


@dataclass(frozen=True)
class Answer:
    """The result for one deployment, and the command that repeats the check.

    ``news``: the change of each verdict, where the check is compared with a commit or a baseline.
    """

    deployment: Deployment
    result: Result
    command: str
    news: tuple[News, ...] = ()


@dataclass(frozen=True)
class Format:
    """A format: its description, and the function that writes answers. ``several``: a file can hold several answers.

    ``needs``: packages that only the extra with the name of the format installs.
    """

    what: str
    write: Callable[[Sequence[Answer]], str | bytes]
    several: bool = False
    needs: tuple[str, ...] = ()


def _html(answers: Sequence[Answer]) -> str:
    from proofka.reports.html import to_html

    (answer,) = answers
    return to_html(answer.deployment, answer.result, command=answer.command)


def _markdown(answers: Sequence[Answer]) -> str:
    from proofka.reports.markdown import to_markdown

    (answer,) = answers
    return to_markdown(answer.deployment, answer.result, command=answer.command)


def _sarif(answers: Sequence[Answer]) -> str:
    from proofka.reports.sarif import to_sarif

    return to_sarif(answers)


def _junit(answers: Sequence[Answer]) -> bytes:
    from proofka.reports.junit import to_junit

    return to_junit(answers)


def _bibtex(answers: Sequence[Answer]) -> str:
    from proofka.reports.citation import to_bibtex

    return to_bibtex(answers)


def _pdf(answers: Sequence[Answer]) -> bytes:
    from proofka.reports.pdf import to_pdf

    return to_pdf(answers)


FORMATS: Mapping[str, Format] = {
    ".html": Format("a page to step through the traces", _html),
    ".md": Format("a Markdown page", _markdown),
    ".sarif": Format("SARIF, for code scanning", _sarif, several=True),
    ".xml": Format("JUnit XML, a test for each property", _junit, several=True),
    ".bib": Format("an entry for BibTeX", _bibtex, several=True),
    ".pdf": Format("a page to print for a design review", _pdf, several=True, needs=("reportlab", "matplotlib")),
}
"""Formats by the ending of a file's name."""

IN_FOLDERS = (".md", ".html")
"""Endings of the pages of each deployment in a folder."""


def format_of(path: Path) -> Format | None:
    """Return the format of a report with this name, or None for a folder. Raises :class:`UnknownFormat`."""
    if path.is_dir() or not path.suffix:
        return None
    found = FORMATS.get(path.suffix.lower())
    if found is None:
        raise UnknownFormat(f"{path}: a report must be a folder, or a file whose name ends in {', '.join(FORMATS)}")
    if any(find_spec(package) is None for package in found.needs):
        raise UnknownFormat(
            f'{path}: this format needs more packages: pip install "proofka[{path.suffix.lower()[1:]}]"'
        )
    return found


def pages(path: Path, answers: Sequence[Answer]) -> Iterator[tuple[Path, Callable[[], str | bytes]]]:
    """Yield the files of a report at ``path`` (a file or a folder), each with the function that makes its content."""
    found = format_of(path)
    if found is not None:
        yield path, partial(found.write, answers)
        return
    for answer in answers:
        for suffix in IN_FOLDERS:
            page = path / f"{file_name(answer.deployment.name)}{suffix}"
            yield page, partial(FORMATS[suffix].write, [answer])


def file_name(name: str) -> str:
    """Return the name of a deployment as a file name that cannot leave its folder."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "deployment"
