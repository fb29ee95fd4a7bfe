"""The programs on the pages for maintainers of other projects show what the pages say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from proofka.checker.cluster.launching import PYTHON

pytestmark = pytest.mark.cluster

PAGE = Path(__file__).parent.parent / "docs" / "upstream" / "librdkafka-implicit-ack.md"


def test_librdkafka_reports_the_refused_record_as_delivered(tmp_path: Path) -> None:
    """A failure with a newer librdkafka means that the defect is gone, and that the page must name the release."""
    python = os.environ.get(PYTHON) or sys.executable
    if subprocess.run([python, "-c", "import confluent_kafka"], capture_output=True, check=False).returncode:
        pytest.skip(f"NOT RUN: {python} lacks confluent-kafka; {PYTHON} names another Python")
    text = PAGE.read_text(encoding="utf-8")
    program = tmp_path / "program.py"
    program.write_text(re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0], encoding="utf-8")
    run = subprocess.run([python, str(program)], capture_output=True, text=True, check=True, timeout=60)
    *reports, ending = run.stdout.splitlines()
    assert "\n".join(reports) in text
    assert reports[0] == "record-1 NO_ERROR -1001 PERSISTED"
    assert ending.endswith("fatal error: none")
    assert "Not enough in-sync replicas (actions Retry,MsgNotPersisted)" in run.stderr
    assert "1 message(s) implicitly acked by subsequent batch success" in run.stderr
