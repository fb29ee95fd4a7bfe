"""Build the engine that the options name."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from proofka.checker.cli.errors import complain, fail
from proofka.checker.cli.options import EngineName

if TYPE_CHECKING:
    from proofka.checker.engine import Engine
    from proofka.properties.superstep import Superstep


@contextmanager
def engine_of(
    name: EngineName,
    master: str | None,
    checkpoint: Path | None,
    every: float,
    memory: int | None,
    *,
    stats: bool,
    certified: bool,
) -> Iterator[Engine]:
    """Yield the engine, and release its resources at the end of the block.

    With ``stats`` the engine reports cache hits, and Spark's supersteps are printed at the end. ``every``: seconds
    between two snapshots of the embedded engine. ``memory``: limit of Spark's files, in bytes. ``certified``: the
    states go into a certificate.
    """
    if stats:
        _tell_what_is_kept()
    if name is EngineName.EMBEDDED:
        if master is not None:
            fail("--master: needs --engine spark or --engine auto")
        from proofka.checker.engine import EmbeddedEngine

        yield EmbeddedEngine(None if checkpoint is None else (checkpoint, every), keeps_steps=certified)
        return
    supersteps: list[Superstep] = []
    try:
        from proofka.checker.spark.engine import auto_engine, spark_engine
    except ModuleNotFoundError as missing:
        if missing.name != "pyarrow":
            raise
        from proofka.checker.spark.session import NOT_INSTALLED

        fail(NOT_INSTALLED)

    if name is EngineName.SPARK:
        with spark_engine(master, checkpoint, supersteps.append, memory) as spark:
            yield spark
    else:
        with auto_engine(master, checkpoint, supersteps.append, _say_that_spark_goes_on) as auto:
            yield auto
    if stats:
        from proofka.reports.supersteps import SuperstepTable
        from proofka.reports.terminal import console

        console(stderr=True).print(SuperstepTable(supersteps))


def _tell_what_is_kept() -> None:
    from proofka.checker.user_cache import LOG

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)


def _say_that_spark_goes_on(states: int) -> None:
    complain(f"memory limit reached at {states:,} states: Spark continues the exploration")
