"""Any bytes under any name, guided by coverage: a reader says what it finds, or one line of what is wrong.

``python -m tests.fuzz.readers -max_total_time=60``; needs atheris.
"""

from __future__ import annotations

import sys
from typing import Any

NAMES = (
    "application.yml",
    "application.properties",
    "producer.properties",
    "server.properties",
    "connect-distributed.properties",
    "docker-compose.yml",
    "values.yaml",
    "kafka.env",
    "topics.tf",
    "main.go",
    "producer.py",
    "producer.js",
    "Producer.java",
    "kafka.json",
    "service.toml",
    "telegraf.conf",
    "filebeat.yml",
    "fluent-bit.conf",
    "README.md",
    "create.sh",
)


def read(content: bytes) -> None:
    """Read bytes with the readers; the first byte chooses the name of the file."""
    from proofka.model.deployment.dialects.document import Document
    from proofka.model.deployment.dialects.own import is_deployment
    from proofka.model.deployment.dialects.recognising import dialect_of
    from proofka.model.deployment.errors import DeploymentError
    from proofka.model.deployment.source import decode_text

    if len(content) < 2:
        return
    text, notes = decode_text(content[1:])
    document = Document(NAMES[content[0] % len(NAMES)], text, notes)
    try:
        is_deployment(document)
        dialect = dialect_of(document)
        if dialect is not None:
            dialect.read(document, {})
    except DeploymentError as error:
        assert "\n" not in str(error)


def main() -> None:
    """Try until the options of the fuzzer say stop."""
    import atheris

    fuzzer: Any = atheris
    with fuzzer.instrument_imports(include=["proofka.model.deployment.dialects"]):
        import proofka.model.deployment.dialects.recognising  # noqa: F401
    fuzzer.Setup(sys.argv, read)
    fuzzer.Fuzz()


if __name__ == "__main__":
    main()
