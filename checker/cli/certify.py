"""``proofka certify``: check a deployment, and write a certificate of its verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from proofka.checker.cli.certificate_options import CertificateFile
from proofka.checker.cli.endings import EXIT_UNDECIDED, EXIT_VIOLATED
from proofka.checker.cli.errors import fail, one_line_errors, plain
from proofka.checker.cli.exploring import run_check
from proofka.checker.cli.limits import budget_of
from proofka.checker.cli.options import (
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
from proofka.checker.cli.source_options import source_of
from proofka.checker.cli.written import check_file

if TYPE_CHECKING:
    from proofka.checker.certificates.certifying import Certified


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

    Of a result or a bundle, the deployment is checked again, and the certificate must be about the verdicts there. A
    property that the certificate does not prove is named with the reason. docs/certificates.md has the format, and the
    two programs that check it. proofka check --certificate writes the certificate with a check.

    Exit status: 0 every property is proved, 1 the certificate contradicts the result, 2 the input is wrong, 3 some
    property is not proved.
    """
    from proofka.checker.certificates.certifying import NotCertified
    from proofka.checker.certificates.certifying import certify as write_certificate
    from proofka.checker.cli.checked import loaded
    from proofka.checker.engine import EmbeddedEngine
    from proofka.checker.reductions.choice import chosen
    from proofka.checker.source import narrowed
    from proofka.model.deployment.document import from_document
    from proofka.model.pipeline import VERSION

    with one_line_errors():
        check_file("-o", output)
        source = source_of(
            file,
            kafka,
            topic,
            assume=assume,
            fill=fill,
            environment=environment,
            partly=partly,
            clients=clients,
            pipeline=pipeline,
        )
        found = loaded(source, limits=(faults,))
        document = None if found is None else found.document
        if document is not None and (model := document["versions"].get("model")) != VERSION:
            fail(
                f"{file}: is a result of model {model}, whose ids model {VERSION} does not give; certify the deployment"
            )
        read = source.read() if document is None else from_document(document["deployment"])
        deployment = narrowed(read, faults, None)
        budget = budget_of(seconds, {"memory": memory, "threads": threads})
        run, result = run_check(deployment, budget, EmbeddedEngine(keeps_steps=True), chosen((), ()))
        try:
            written = write_certificate(run, result, output)
        except NotCertified as error:
            fail(f"not written: {output}: {error}", EXIT_UNDECIDED)
    for line in written.lines(output):
        typer.echo(plain(line))
    if document is not None:
        _compare(written, document, file)
    raise typer.Exit(0 if written.is_whole else EXIT_UNDECIDED)


def _compare(written: Certified, document: Mapping[str, Any], file: Path) -> None:
    """Compare a certificate with the result that it was written for. End the command if they differ."""
    from proofka.checker.certificates.agreement import CoversFewerFaults, claims_agree
    from proofka.checker.tampered import TamperedDocument

    try:
        claims_agree(written.claims, document)
    except CoversFewerFaults as error:
        fail(f"{file}: {error}", EXIT_UNDECIDED)
    except TamperedDocument as error:
        fail(f"{file}: {error}", EXIT_VIOLATED)
    typer.echo(plain(f"the claims are those of the verdicts of {file}: ids, faults, smallest fault sets"))
