"""The fuzzer of readers, for a while."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.fuzz.readers import NAMES, read

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", NAMES)
def test_each_name_is_tried(name: str) -> None:
    read(bytes([NAMES.index(name)]) + b"bootstrap.servers=a\nacks=1\n")


@pytest.mark.slow
@pytest.mark.skipif(find_spec("atheris") is None, reason="SKIPPED: atheris is not installed (pip install '.[fuzz]')")
def test_bytes_that_cover_more_and_more(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for number, name in enumerate(NAMES):
        (corpus / name).write_bytes(bytes([number]) + b"spring.kafka.producer.acks=${A:1}\nacks: 1\n")
    program = [sys.executable, "-m", "tests.fuzz.readers", str(corpus), "-max_total_time=60", "-timeout=20"]
    run = subprocess.run(
        [*program, f"-artifact_prefix={tmp_path}/"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr[-3000:]
