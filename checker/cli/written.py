"""The files that a check writes: the result as JSON, reports, a bundle, and a certificate.

Each file is written completely or not at all. A file that cannot be written does not prevent the others.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from proofka.checker.cli.errors import complain, fail, plain, reason_of
from proofka.model.input.input_error import InputError
from proofka.model.input.whole_file import write_whole

if TYPE_CHECKING:
    from proofka.checker.bundle import SourceFile
    from proofka.checker.certificates.certifying import Certified
    from proofka.checker.check import Run
    from proofka.checker.source import Source
    from proofka.model.deployment.deployment import Deployment
    from proofka.properties.news import Compared, News
    from proofka.properties.verdict import Result
    from proofka.reports.formats import Answer

STANDARD_OUTPUT = Path("-")


@dataclass
class Written:
    """The requested files, and the answers to write into them.

    ``news``: what is news in the result that is written next, where the check is compared with what was known.
    ``proof``: the content of the certificate, for a bundle. ``told``: the lines about a certificate that was written.
    """

    json_file: Path | None
    reports: tuple[Path, ...]
    bundle: Path | None = None
    certificate: Path | None = None
    comment: Path | None = None
    news: tuple[News, ...] = ()
    answers: list[Answer] = field(default_factory=list)
    sources: tuple[SourceFile, ...] = ()
    proof: bytes | None = None
    told: list[str] = field(default_factory=list)
    failed: bool = False

    @property
    def is_wanted(self) -> bool:
        """Tell whether the user named a file for the answers."""
        return any(one is not None for one in (self.json_file, self.bundle, self.certificate, self.comment)) or bool(
            self.reports
        )

    def refuse_what_cannot_be(self) -> None:
        """Refuse, before the exploration, files that could not be written after it."""
        from proofka.reports.formats import UnknownFormat, format_of

        if self.json_file is not None and self.json_file != STANDARD_OUTPUT:
            check_file("--json", self.json_file)
        if self.bundle is not None:
            if self.bundle.suffix.lower() != ".zip":
                fail(f"{self.bundle}: a bundle is a zip file; name it {self.bundle}.zip")
            check_file("--bundle", self.bundle)
        if self.certificate is not None:
            if self.certificate.suffix.lower() != ".cert":
                fail(f"{self.certificate}: the name of a certificate ends in .cert; name it {self.certificate}.cert")
            check_file("--certificate", self.certificate)
        if self.comment is not None:
            check_file("--comment", self.comment)
        for path in self.reports:
            try:
                found = format_of(path)
            except UnknownFormat as error:
                fail(f"--report {error}")
            if found is not None:
                check_file("--report", path)
            elif path.exists() and not path.is_dir():
                fail(f"{path}: its name says no format; --report takes a name such as review.html, or a directory")

    def note_sources(self, deployments: Sequence[Deployment], source: Source) -> None:
        """Record the names and hashes of the source files before they can change."""
        if self.bundle is not None:
            from proofka.checker.bundle import sources_of

            properties = (source.topic, source.broker, source.producer, source.consumer) if source.file is None else ()
            named = [Path(one) for one in (source.file, *properties) if one is not None]
            self.sources = sources_of(deployments, named)

    def refuse_several(self, pipelines: int) -> None:
        """Refuse files that hold one answer only, if there are several pipelines."""
        from proofka.reports.formats import format_of

        if self.json_file is not None:
            fail(f"--json takes one result, and there are {pipelines} pipelines; choose one with --pipeline")
        if self.bundle is not None:
            fail(f"--bundle takes one result, and there are {pipelines} pipelines; choose one with --pipeline")
        if self.certificate is not None:
            fail(f"--certificate takes one result, and there are {pipelines} pipelines; choose one with --pipeline")
        for path in self.reports:
            found = format_of(path)
            if found is not None and not found.several:
                there_are = f"there are {pipelines} pipelines"
                fail(f"--report {path} takes one result, and {there_are}; name a folder, or choose one with --pipeline")

    def certify(self, run: Run, result: Result) -> Result:
        """Write the certificate of a finished check if the user named a file, and return the result with it.

        ``failed`` is True if the file could not be written.
        """
        if self.certificate is None:
            return result
        from proofka.checker.certificates.certifying import certify

        made: list[Certified] = []
        file = self.certificate
        if not attempt(file, lambda: made.append(certify(run, result, file))):
            self.failed = True
            return result
        self.told = [*made[0].lines(file)]
        self.proof = file.read_bytes() if self.bundle is not None else None
        return replace(result, certificate=made[0].certificate)

    def add(self, deployment: Deployment, result: Result, command: str) -> None:
        """Write one more answer. ``failed`` is True if a requested file could not be written."""
        from proofka.reports.formats import Answer, format_of, pages

        answer = Answer(deployment, result, command, self.news)
        self.answers.append(answer)
        for line in self.told:
            complain(line)
        if self.json_file is not None:
            self._write(self.json_file, lambda: _json(answer))
        if self.bundle is not None and self._write(self.bundle, lambda: self._bundle(answer)):
            typer.echo(plain(f"bundle: {self.bundle}"), err=True)
        for path in self.reports:
            found = format_of(path)
            each = self.answers if found is not None and found.several else [answer]
            for page, content in pages(path, each):
                if self._write(page, content, folder=found is None):
                    typer.echo(plain(f"report: {page}"), err=True)

    def finish(self, compared: Compared | None) -> None:
        """Write the files that hold all answers, also if no pipeline was checked."""
        from proofka.reports.ci.comment import to_comment
        from proofka.reports.formats import format_of

        if self.comment is not None:
            self._write(self.comment, lambda: to_comment(self.answers, compared))
        for path in self.reports if not self.answers else ():
            found = format_of(path)
            if found is not None and found.several:
                self._write(path, lambda found=found: found.write([]))  # type: ignore[misc]

    def _write(self, path: Path, content: Callable[[], str | bytes], *, folder: bool = False) -> bool:
        def write() -> None:
            if folder:
                path.parent.mkdir(parents=True, exist_ok=True)
            made = content()
            if path == STANDARD_OUTPUT and isinstance(made, str):
                sys.stdout.write(made)
                sys.stdout.flush()
            else:
                write_whole(path, made)

        done = attempt(path, write)
        self.failed |= not done
        return done

    def _bundle(self, answer: Answer) -> bytes:
        from proofka.checker.bundle import write_bundle
        from proofka.reports.document import to_document

        document = to_document(answer.deployment, answer.result, command=answer.command)
        return write_bundle(document, self.sources, self.proof)


def _json(answer: Answer) -> str:
    from proofka.reports.document import to_document

    document = to_document(answer.deployment, answer.result, command=answer.command)
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def attempt(path: Path, write: Callable[[], object]) -> bool:
    """Write a file, and return whether that succeeded.

    A failure prints one line, and the caller goes on to the next file.
    """
    try:
        write()
    except (OSError, InputError) as error:
        why = reason_of(error) if isinstance(error, OSError) else str(error)
        complain(f"not written: {'standard output' if path == STANDARD_OUTPUT else path}: {why}")
        return False
    return True


def check_file(option: str, path: Path) -> None:
    """Refuse a path that could not be written, before its content exists."""
    if path.is_dir():
        fail(f"{path}: is a directory; {option} takes a file")
    if not path.parent.is_dir():
        fail(f"{option} {path}: there is no such directory as {path.parent}; make it first, or name another file")
