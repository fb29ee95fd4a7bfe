"""``proofka verify`` for certificates: alone, beside a result, and in a bundle."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proofka.checker.cli.endings import EXIT_HOLDS, EXIT_UNDECIDED, EXIT_VIOLATED
from proofka.checker.cli.errors import fail
from proofka.checker.cli.verify_again import Found
from proofka.checker.cli.verify_obligations import Obligations

if TYPE_CHECKING:
    from proofka.checker.bundle import Bundle
    from proofka.checker.certificates.verifying import Verified
    from proofka.properties.certified import Certificate


@dataclass(frozen=True)
class Proof:
    """A certificate to verify beside a result: its file, and its name in messages."""

    file: Path
    called: str


def verify_the_certificate(file: Path, memory: int | None, master: str | None, obligations: Obligations) -> Found:
    """Verify a certificate. End the command if its text differs from what its deployment means.

    ``master``: of the Spark session whose tasks share the check; None for a check in one process.
    """
    verified, status = _verified(file, str(file), memory, master)
    found = Found(verified.lines, status=status)
    if not verified.is_accepted:
        return found
    if not verified.is_of_this_model:
        return obligations.of_another_model(found)
    return obligations.of_certificate(found, verified.read.deployment, str(file))


def beside_result(
    found: Found, document: Mapping[str, Any], proof: Proof, memory: int | None
) -> tuple[Found, Certificate | None]:
    """Verify the certificate of a result, and return the outcome for both, with the certificate if all is accepted.

    ``found``: the outcome for the result. End the command if the certificate is not about the verdicts.
    """
    from proofka.checker.certificates.agreement import agree
    from proofka.checker.tampered import TamperedDocument

    verified, status = _verified(proof.file, proof.called, memory)
    try:
        agreed = agree(verified.read, verified.certificate, document)
    except TamperedDocument as error:
        fail(f"{proof.called}: {error}", EXIT_VIOLATED)
    worst = EXIT_VIOLATED if EXIT_VIOLATED in (status, found.status) else max(status, found.status)
    both = Found((*found.lines, *verified.lines, *agreed), found.replayed, worst)
    return both, verified.certificate if verified.is_accepted else None


@contextmanager
def proof_of(bundle: Bundle, of: Path, given: Path | None) -> Iterator[Proof | None]:
    """Yield the certificate to verify: the ``given`` file, else a file with the certificate of a bundle, else None.

    ``of``: the file of the bundle.
    """
    from proofka.checker.bundle import CERTIFICATE

    content = bundle.members.get(CERTIFICATE)
    if given is not None or content is None:
        yield None if given is None else Proof(given, str(given))
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / CERTIFICATE
        file.write_bytes(content)
        yield Proof(file, f"{of}: {CERTIFICATE}")


def _verified(file: Path, called: str, memory: int | None, master: str | None = None) -> tuple[Verified, int]:
    """Return the outcome for a certificate and the exit status. End the command with a line for each other end."""
    from proofka.checker.certificates.checkers import NoChecker
    from proofka.checker.certificates.reading import NoCertificate, TooMuchMemory
    from proofka.checker.certificates.verifying import verify_certificate
    from proofka.checker.tampered import TamperedDocument

    if file.exists() and not file.is_file():
        fail(f"{called}: is no regular file; expected a certificate")
    try:
        if master is None:
            found = verify_certificate(file, memory)
        else:
            from proofka.checker.spark.shares import shared_by_spark

            with shared_by_spark(master) as shared:
                found = verify_certificate(file, memory, shared)
    except NoCertificate as error:
        fail(f"{called}: {error}")
    except TamperedDocument as error:
        fail(f"{called}: {error}", EXIT_VIOLATED)
    except TooMuchMemory as error:
        fail(f"{called}: refused: memory: {error}", EXIT_VIOLATED)
    except NoChecker as error:
        fail(f"{called}: not verified: {error}", EXIT_UNDECIDED)
    if not found.is_accepted:
        return found, EXIT_VIOLATED
    return found, EXIT_HOLDS if found.is_of_this_model else EXIT_UNDECIDED
