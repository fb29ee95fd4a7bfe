"""``proofka certify``: check a deployment, and write a certificate of its verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from checker.cli.endings import EXIT_UNDECIDED
from checker.cli.errors import fail, one_line_errors, plain
from checker.cli.exploring import run_check
from checker.cli.limits import budget_of
from checker.cli.options import (
    Assume,
    Clients,
    Environment,
    Faults,
    Fill,
    Kafka,
    Memory,
    Partly,
    PipelineNumber,
    ResultOrPath,
    Seconds,
    Threads,
    Topic,
)
from checker.cli.written import check_file

if TYPE_CHECKING:
    from checker.certificates.writing import Written
    from model.deployment.deployment import Deployment

CertificateFile = Annotated[
    Path, typer.Option("-o", "--output", metavar="FILE.cert", help="The file to write; an existing file is replaced.")
]


def certify(
    file: ResultOrPath,
    output: CertificateFile,
    kafka: Kafka = None,
    topic: Topic = None,
    assume: Assume = None,
    fill: Fill = None,
    environment: Environment = False,
    partly: Partly = False,
    clients: Clients = None,
    pipeline: PipelineNumber = None,
    faults: Faults = None,
    seconds: Seconds = None,
    memory: Memory = None,
    threads: Threads = None,
) -> None:
    """Check a deployment, and write a certificate: a file that proves its verdicts to a checker without Proofka.

    Of a result or a bundle, the deployment is checked again. A property that the certificate does not prove is named
    with the reason. docs/certificates.md has the format, and the two programs that check it.

    Exit status: 0 every property is proved, 2 the input is wrong, 3 some property is not proved.
    """
    from checker.certificates.writing import write_certificate
    from checker.cli.verify_again import is_result
    from checker.engine import EmbeddedEngine
    from checker.reductions.choice import chosen
    from checker.source import Source, narrowed

    with one_line_errors():
        check_file("-o", output)
        source = Source(
            file,
            kafka,
            topic,
            assume=tuple(assume or ()),
            fill=tuple(fill or ()),
            environment=environment,
            pipeline=pipeline,
            partial=partly,
            clients=tuple(clients or ()),
        )
        if is_result(file):
            if source != Source(file):
                fail(f"{file}: is a result; options of a check apply to configurations only")
            deployment = narrowed(_of_result(file), faults, None)
        else:
            deployment = narrowed(source.read(), faults, None)
        if deployment.faults.any_number:
            fail("--faults any: certificates are for a number of faults; name one with --faults N")
        budget = budget_of(seconds, {"memory": memory, "threads": threads})
        run, result = run_check(deployment, budget, EmbeddedEngine(None), chosen((), ()))
        written = write_certificate(run, output, tool=f"Proofka {result.versions['proofka']}")
    _tell(written, output)
    raise typer.Exit(EXIT_UNDECIDED if written.left_out else 0)


def _of_result(file: Path) -> Deployment:
    """Return the deployment of a result or a bundle."""
    from checker.cli.verify import load_document
    from model.deployment.document import from_document

    return from_document(load_document(file)["deployment"])


def _tell(written: Written, output: Path) -> None:
    size = written.size / max(written.states, 1)
    typer.echo(plain(f"{output}: {written.size:,} bytes, {written.states:,} states, {size:.2f} bytes a state"))
    typer.echo(plain(f"proved: {', '.join(written.certified) or 'nothing'}"))
    for name, reason in written.left_out.items():
        typer.echo(plain(f"not proved: {name}: {reason}"))
    typer.echo(plain(f"check it with: certcheck {output}"))
