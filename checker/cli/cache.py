"""``proofka cache``: show or delete the data kept between runs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from proofka.checker.cli.errors import fail, plain, reason_of

Clear = Annotated[
    bool, typer.Option("--clear", help="Delete the kept data, which later runs compute again (default: off).")
]


OF_CLUSTERS = ("jars", "nodes", "programs")
"""The folders with what real clusters need: downloaded jars, classes of nodes, and built programs of clients."""


def cache(clear: Clear = False) -> None:
    """Show where machine code and proofs are kept between runs, and their size.

    The environment variable PROOFKA_CACHE names another folder for the machine code and proofs of systems; the value
    off disables this cache. If the variable names a folder, --clear empties only that folder. --clear keeps the jars
    and programs that reproduce and conform have downloaded and built: delete their folders to have them made again.
    """
    from proofka.checker.disk_cache import MOST_BYTES, DiskCache
    from proofka.checker.user_cache import OFF, VARIABLE, default_systems_folder, systems_folder, user_cache

    folder, loops = systems_folder(), user_cache() / "kernel"
    archives = sorted(user_cache().glob("spark-*.jsa"))
    if folder is not None and folder.exists() and not folder.is_dir():
        fail(f"{folder}: is not a folder ({VARIABLE})")
    if clear:
        is_named = folder is not None and folder != default_systems_folder()
        _clear(folder, [] if is_named else [loops, *archives])
        return
    if folder is None:
        typer.echo(f"machine code and proofs of systems: not kept ({VARIABLE}={OFF})")
    else:
        entries = [about.st_size for _, about in DiskCache(folder).files()]
        size = f"{len(entries):,} entries, {_megabytes(sum(entries))} of at most {_megabytes(MOST_BYTES)}"
        typer.echo(plain(f"machine code and proofs of systems: {folder}: {size}"))
    typer.echo(plain(f"compiled loops: {loops}: {_megabytes(_bytes_in(loops.rglob('*')))}"))
    if archives:
        typer.echo(plain(f"classes of Spark: {user_cache()}: {_megabytes(_bytes_in(archives))}"))
    of_clusters = [user_cache() / name for name in OF_CLUSTERS]
    if needed := sum(_bytes_in(one.rglob("*")) for one in of_clusters):
        folders = ", ".join(OF_CLUSTERS)
        typer.echo(plain(f"real clusters: {user_cache()} ({folders}; --clear keeps these): {_megabytes(needed)}"))


def _clear(folder: Path | None, others: Iterable[Path]) -> None:
    """Delete the entries of the folder and the other paths, and print each deleted path."""
    import shutil

    from proofka.checker.disk_cache import DiskCache

    try:
        if folder is not None:
            DiskCache(folder).clear()
            typer.echo(plain(f"emptied: {folder}"))
        for path in others:
            if path.is_dir():
                shutil.rmtree(path)
            elif path.exists():
                path.unlink(missing_ok=True)
            else:
                continue
            typer.echo(plain(f"deleted: {path}"))
    except OSError as error:
        fail(f"{error.filename or folder}: {reason_of(error)}")


def _bytes_in(files: Iterable[Path]) -> int:
    return sum(file.stat().st_size for file in files if file.is_file())


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
