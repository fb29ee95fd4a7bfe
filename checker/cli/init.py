"""``proofka init``: find the pipelines of a folder, and write a project file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from proofka.checker.cli.errors import one_line_errors, plain

Root = Annotated[Path, typer.Argument(metavar="[DIR]", help="The folder of the project, usually the repository.")]


def init(folder: Root = Path()) -> None:
    """Find the pipelines of a folder, and write them into proofka.yaml, with comments (docs/project-file.md).

    The command changes no existing file.

    Exit status: 0 the file is written, 2 the file exists or no pipeline was found.
    """
    with one_line_errors():
        from proofka.checker.project.errors import ProjectError
        from proofka.checker.project.first import found_in, text_of
        from proofka.checker.project.project import FILE
        from proofka.model.input.whole_file import write_whole

        file = folder / FILE
        if file.exists():
            raise ProjectError("W10", "exists already; change the file, or remove it first", file=str(file))
        if not folder.is_dir():
            raise ProjectError("W11", "is no folder; name the folder of the project", file=str(folder))
        paths = found_in(folder)
        write_whole(file, text_of(paths))
    count = len(paths)
    inside = "" if folder == Path() else f" {file}"
    typer.echo(
        plain(f"{file}: {count} {'entry' if count == 1 else 'entries'}; proofka check{inside} checks the pipelines")
    )
