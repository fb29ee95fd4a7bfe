"""The files that a check leaves behind: its result as JSON, reports, and a bundle."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from checker.cli.errors import fail, plain

if TYPE_CHECKING:
    from checker.bundle import SourceFile
    from checker.source import Source
    from model.deployment.deployment import Deployment
    from properties.verdict import Result
    from reports.formats import Answer

STANDARD_OUTPUT = Path("-")


@dataclass
class Written:
    """What was asked to be written, and what there is to write by now."""

    json_file: Path | None
    reports: tuple[Path, ...]
    bundle: Path | None = None
    answers: list[Answer] = field(default_factory=list)
    sources: tuple[SourceFile, ...] = ()

    def refuse_what_cannot_be(self) -> None:
        """Complain before the exploration about what could not be written after it."""
        from reports.formats import UnknownFormat, format_of

        if self.json_file is not None and self.json_file != STANDARD_OUTPUT:
            _check_file("--json", self.json_file)
        if self.bundle is not None:
            if self.bundle.suffix.lower() != ".zip":
                fail(f"{self.bundle}: a bundle is a zip file; name it {self.bundle}.zip")
            _check_file("--bundle", self.bundle)
        for path in self.reports:
            try:
                found = format_of(path)
            except UnknownFormat as error:
                fail(f"--report {error}")
            if found is not None:
                _check_file("--report", path)
            elif path.exists() and not path.is_dir():
                fail(f"{path}: is no directory; --report takes one, or a file such as {path}.html")

    def note_sources(self, deployments: Sequence[Deployment], source: Source) -> None:
        """Remember which files the deployments were read from, and their hashes, before anybody can change them."""
        if self.bundle is not None:
            from checker.bundle import sources_of

            properties = (source.topic, source.broker, source.producer, source.consumer) if source.file is None else ()
            named = [Path(one) for one in (source.file, *properties) if one is not None]
            self.sources = sources_of(deployments, named)

    def refuse_several(self, pipelines: int) -> None:
        """Complain about what has room for one answer only, where there are several."""
        from reports.formats import format_of

        if self.json_file is not None:
            fail(f"--json takes one result, and there are {pipelines} pipelines; choose one with --pipeline")
        if self.bundle is not None:
            fail(f"--bundle takes one result, and there are {pipelines} pipelines; choose one with --pipeline")
        for path in self.reports:
            found = format_of(path)
            if found is not None and not found.several:
                there_are = f"there are {pipelines} pipelines"
                fail(f"--report {path} takes one result, and {there_are}; name a folder, or choose one with --pipeline")

    def add(self, deployment: Deployment, result: Result, command: str) -> None:
        """Write one more answer."""
        from reports.formats import Answer, format_of, write_report

        answer = Answer(deployment, result, command)
        self.answers.append(answer)
        if self.json_file is not None:
            self._write_json(answer)
        if self.bundle is not None:
            self._write_bundle(self.bundle, answer)
        for path in self.reports:
            found = format_of(path)
            each = self.answers if found is not None and found.several else [answer]
            for page in write_report(path, each):
                typer.echo(plain(f"report: {page}"), err=True)

    def _write_json(self, answer: Answer) -> None:
        from reports.document import to_document

        document = to_document(answer.deployment, answer.result, command=answer.command)
        text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        if self.json_file is None or self.json_file == STANDARD_OUTPUT:
            sys.stdout.write(text)
        else:
            self.json_file.write_text(text, encoding="utf-8")

    def _write_bundle(self, path: Path, answer: Answer) -> None:
        from checker.bundle import write_bundle
        from reports.document import to_document

        document = to_document(answer.deployment, answer.result, command=answer.command)
        path.write_bytes(write_bundle(document, self.sources))
        typer.echo(plain(f"bundle: {path}"), err=True)


def _check_file(option: str, path: Path) -> None:
    if path.is_dir():
        fail(f"{path}: is a directory; {option} takes a file")
    if not path.parent.is_dir():
        fail(f"{path.parent}: no such directory to write {option} into")
