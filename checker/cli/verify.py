"""``proofka verify``: replay the traces of an earlier result, and check every other part of a bundle."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from proofka.checker.cli.certificate_options import CertificateBeside, MasterToVerify, MemoryToVerify
from proofka.checker.cli.endings import EXIT_BAD_INPUT, EXIT_VIOLATED
from proofka.checker.cli.errors import fail, one_line_errors, plain
from proofka.checker.cli.obligation_options import AskedToo, ObligationsFolder
from proofka.checker.cli.options import ReportFiles
from proofka.checker.cli.verify_again import Found, is_bundle, load_bundle, verify_bundle, verify_result
from proofka.checker.cli.verify_certificate import Proof, beside_result, proof_of, verify_the_certificate
from proofka.checker.cli.verify_obligations import Obligations
from proofka.checker.cli.written import Written
from proofka.model.input.strict_json import AmbiguousJson, read_json

MAX_RESULT_BYTES = 64 << 20
"""Largest size of a result file, in bytes."""


def verify(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A result that --json wrote, a bundle, or a certificate.")
    ],
    steps: Annotated[
        bool, typer.Option("--steps", help="Print each replayed step of each trace (default: off).")
    ] = False,
    recount: Annotated[
        bool, typer.Option("--recount", help="Explore again, and compare the counts (default: off).")
    ] = False,
    certificate: CertificateBeside = None,
    report: ReportFiles = None,
    memory: MemoryToVerify = None,
    master: MasterToVerify = None,
    solver: AskedToo = None,
    obligations: ObligationsFolder = None,
) -> None:
    """Check a result, a bundle or a certificate again: every value that follows from its deployment, and every trace,
    against the model.

    For a bundle the command also checks the hashes and the systems in it. --recount explores again, because no trace
    shows that a property holds. For a certificate the command builds the system again, and lets certcheck check the
    rest; the certificate of a bundle is verified too, and must be about the verdicts. --report writes the verified
    result, with the check of its certificate if there was a check.

    --solver cvc5 also asks cvc5 about everything that the verdicts leave to Z3. If the two disagree, the verdicts are
    withdrawn with both answers, and no report is written.

    Exit status: 0 everything agrees, 1 a value, a trace or a solver does not, or the certificate is refused, 2 the file
    is no result, bundle or certificate, or cvc5 is not installed, 3 a part cannot be verified: another version of the
    model wrote the result, the check was stopped, settings are missing, no program was found that checks the
    certificate, or cvc5 has no answer.
    """
    from proofka.checker.certificates.reading import is_certificate

    written = Written(None, tuple(report or ()))
    asked = Obligations(solver, obligations)
    with one_line_errors():
        written.refuse_what_cannot_be()
        asked.refuse_what_cannot_be()
        if is_certificate(file):
            _refuse_beside_a_certificate(file, recount=recount, others=(certificate, *written.reports))
            found = verify_the_certificate(file, memory, master, asked)
        elif master is not None:
            fail(f"--master: is for a certificate, and {file} is none")
        elif is_bundle(file):
            found = _verify_bundle(file, certificate, memory, asked, written, again=recount)
        else:
            found = _verify_result(file, certificate, memory, asked, written, again=recount)
    for line, told in found.replayed if steps else ():
        _say(line)
        for step in told:
            _say(step)
    for line in found.lines:
        _say(line)
    raise typer.Exit(EXIT_BAD_INPUT if written.failed else found.status)


def _refuse_beside_a_certificate(file: Path, *, recount: bool, others: Sequence[Path | None]) -> None:
    """Refuse options that are for results, if the file is a certificate."""
    if recount:
        fail(f"{file}: a certificate has the states themselves; verify it without --recount")
    if any(one is not None for one in others):
        fail(f"{file}: is a certificate, not a result; name the result or the bundle, with --certificate {file}")


def _verify_bundle(
    file: Path, certificate: Path | None, memory: int | None, asked: Obligations, written: Written, *, again: bool
) -> Found:
    bundle = load_bundle(file)
    found = _with_obligations(verify_bundle(file, bundle, again=again), file, bundle.document, asked)
    with proof_of(bundle, file, certificate) as proof:
        return _with_certificate(found, file, bundle.document, proof, memory, written)


def _verify_result(
    file: Path, certificate: Path | None, memory: int | None, asked: Obligations, written: Written, *, again: bool
) -> Found:
    document = load_result(file)
    found = _with_obligations(verify_result(file, document, again=again), file, document, asked)
    proof = None if certificate is None else Proof(certificate, str(certificate))
    return _with_certificate(found, file, document, proof, memory, written)


def _with_obligations(found: Found, file: Path, document: Mapping[str, Any], asked: Obligations) -> Found:
    """Return the outcome with the obligations behind the verdicts, unless another version of the model wrote them."""
    from proofka.checker.bundle_check import is_of_this_model

    return asked.of_result(found, document, str(file)) if is_of_this_model(document) else asked.of_another_model(found)


def _with_certificate(
    found: Found, file: Path, document: Mapping[str, Any], proof: Proof | None, memory: int | None, written: Written
) -> Found:
    """Verify the certificate of a result, if there is any, and write the reports. Return the outcome for both."""
    from proofka.checker.cli.checked import Loaded, of_document

    accepted = None
    if proof is not None:
        found, accepted = beside_result(found, document, proof, memory)
    elif document.get("certificate") is not None:
        found = replace(found, lines=(*found.lines, "certificate: not verified; name the file with --certificate FILE"))
    if written.is_wanted and found.status != EXIT_VIOLATED:
        look = of_document(Loaded(dict(document)), file)
        result = look.result
        if accepted is not None:
            name = accepted.name if result.certificate is None else result.certificate.name
            result = replace(result, certificate=replace(accepted, name=name))
        written.add(look.deployment, result, look.command)
    return found


def _say(line: str) -> None:
    """Print a line. On a terminal the line is wrapped between words; in a file it stays one line."""
    from proofka.reports.lines import print_wrapped
    from proofka.reports.terminal import console

    out = console()
    if not out.is_terminal:
        typer.echo(plain(line))
        return
    indent = " " * (len(line) - len(line.lstrip()))
    print_wrapped(out, line.strip(), first=indent, rest=f"{indent}  ")


def load_document(file: Path) -> dict[str, Any]:
    """Return an unchanged result, read from a bundle or from a ``--json`` file.

    End the command with one line if the file is no such result.
    """
    from proofka.properties.sealing import SEAL, seal

    if is_bundle(file):
        return dict(load_bundle(file, EXIT_BAD_INPUT).document)
    document = load_result(file)
    if document[SEAL] != seal(document):
        fail(f"{file}: was changed after --json wrote it; proofka verify names the difference")
    return document


def _is_configuration(file: Path) -> bool:
    """Tell whether a file is a deployment or a configuration of another program, which proofka check reads."""
    from proofka.checker.source import is_of_others
    from proofka.model.deployment.dialects.document import read_document
    from proofka.model.deployment.dialects.own import looks_like_deployment
    from proofka.model.deployment.errors import DeploymentError

    try:
        return is_of_others(file) or looks_like_deployment(read_document(file))
    except DeploymentError:
        return False


def load_result(file: Path) -> dict[str, Any]:
    """Return a result file that satisfies the schema. End the command with one line if the file is none."""
    from proofka.reports.schema import problem

    if not file.is_file():
        file.stat()  # raises OSError if the file does not exist
        what = "a directory" if file.is_dir() else "no regular file"
        fail(f"{file}: is {what}; expected a result that --json wrote")
    if file.stat().st_size > MAX_RESULT_BYTES:
        fail(f"{file}: is larger than {MAX_RESULT_BYTES >> 20} MB; results of proofka check are smaller")
    try:
        document: Any = read_json(file.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        if _is_configuration(file):
            fail(f"{file}: is a configuration, not a result; proofka check {file} --json RESULT.json writes a result")
        fail(f"{file}:{error.lineno}: no bundle, and not JSON that --json wrote: {error.msg}")
    except AmbiguousJson as error:
        fail(f"{file}: not JSON that --json wrote: {error}")
    except (ValueError, RecursionError):
        fail(f"{file}: not JSON that --json wrote")
    if reason := problem(document):
        fail(f"{file}: {reason}")
    loaded: dict[str, Any] = document
    return loaded
