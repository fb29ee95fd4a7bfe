"""Options about certificates: the file to write, the file to verify, and the memory of the verification."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from proofka.checker.cli.options import bytes_of

CertificateFile = Annotated[
    Path, typer.Option("-o", "--output", metavar="FILE.cert", help="The file to write; an existing file is replaced.")
]
CertificateToo = Annotated[
    Path | None,
    typer.Option(
        "--certificate",
        metavar="FILE.cert",
        help="Write a certificate of the verdicts, from the same exploration; a bundle then holds the certificate "
        "(default: none).",
    ),
]
CertificateBeside = Annotated[
    Path | None,
    typer.Option(
        "--certificate",
        metavar="FILE.cert",
        help="Verify this certificate too; it must be about the verdicts (default: the one in the bundle).",
    ),
]
MemoryToVerify = Annotated[
    int | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        parser=bytes_of,
        help="Refuse a certificate that needs more than SIZE bytes, such as 512M or 2G (default: 60% of the machine's "
        "memory).",
    ),
]
MasterToVerify = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Share the check of a certificate out to the tasks of this Spark master, such as local[2] or "
        "spark://host:7077; every machine needs the file and certcheck at the same paths (default: one process).",
    ),
]
