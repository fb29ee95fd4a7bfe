"""Exported systems as files."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from proofka.model.input.whole_file import write_whole

if TYPE_CHECKING:
    from proofka.checker.export.exported import Exported


class Format(StrEnum):
    """The formats of an export."""

    TLA = "tla"
    PROMELA = "promela"
    SMT2 = "smt2"
    DOT = "dot"
    GRAPHML = "graphml"


def write(exported: Exported, form: Format, directory: Path, *, most_states: int | None = None) -> list[Path]:
    """Write a system in one format into a directory, which is made if missing; return the written files.

    ``most_states`` limits the formats that are graphs of states. Raise :class:`checker.export.graph.TooManyStates`.
    """
    written_as = texts(exported, Format(form), most_states)
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for name, text in written_as.items():
        path = directory / name
        write_whole(path, text)
        written.append(path)
    return written


def texts(exported: Exported, form: Format, most_states: int | None = None) -> dict[str, str]:
    """Return the texts of the files, by file name."""
    from proofka.checker.export.names import file_stem

    name = file_stem(exported.name)
    if form is Format.TLA:
        from proofka.checker.export.tla import TlaModule

        module = TlaModule(exported)
        return {f"{name}.tla": module.text(), f"{name}.cfg": module.configuration()}
    if form is Format.PROMELA:
        from proofka.checker.export.promela import PromelaModel

        return {f"{name}.pml": PromelaModel(exported).text()}
    if form is Format.SMT2:
        from proofka.checker.export.smtlib import SmtLib

        return {f"{name}.smt2": SmtLib(exported).text()}
    from proofka.checker.export.graph import MOST_STATES, as_dot, as_graphml, state_graph

    graph = state_graph(exported, MOST_STATES if most_states is None else most_states)
    return {f"{name}.dot": as_dot(graph)} if form is Format.DOT else {f"{name}.graphml": as_graphml(graph)}
