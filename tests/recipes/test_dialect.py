"""The recipe "Add a dialect", followed for a toy dialect: files ``*.toy`` with settings of a producer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recipes.scratch import Scratch, check_needed, check_sufficient, files_of

LISTED = files_of("Add a dialect")
TEST = "tests/model/deployment/dialects/test_toy_dialect.py"
TESTS = (TEST, "tests/test_docs.py::test_the_page_of_dialects_describes_every_dialect")
DIALECT = '''"""Files of toys: settings of a producer."""

from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.component import Component, Role
from proofka.model.deployment.dialects.dialect import Dialect
from proofka.model.deployment.dialects.formats.properties import said_in_properties

NAME = "settings of a toy"


def fits(document):
    """Tell whether the name of the file ends in .toy."""
    return document.name.endswith(".toy")


def read(document, fillings):
    """Return the producer of a file."""
    accounts = Accounts(document, fillings)
    said = said_in_properties(document.text, document.file)
    settings = {one.path[-1]: accounts.take(one, one.path[-1]) for one in accounts.last_of_each(said, "a file")}
    return accounts.found(NAME, [Component(Role.PRODUCER, "toy", settings)])


DIALECT = Dialect(NAME, fits, read)
'''
TESTED = """
from hypothesis import given

from proofka.model.deployment.dialects.component import Role
from proofka.model.deployment.dialects.toy import DIALECT
from tests.model.deployment.dialects.accounting import read_text, values
from tests.model.deployment.dialects.mutations import near, only_complains

TEXT = "acks=all\\nretries=7\\n"


def test_values():
    assert values(read_text(TEXT, "a.toy", dialect=DIALECT.name), Role.PRODUCER) == {"acks": "all", "retries": "7"}


@given(near(TEXT))
def test_any_text(text):
    only_complains(DIALECT, "a.toy", text)
"""


def add(scratch: Scratch) -> None:
    """Add the dialect of toys."""
    scratch.write("model/deployment/dialects/toy.py", DIALECT)
    recognising = "model/deployment/dialects/recognising.py"
    scratch.insert(recognising, "    topic_file,\n)", "    toy,\n")
    scratch.insert(recognising, "    java_client.DIALECT,\n", "    toy.DIALECT,\n")
    scratch.insert("docs/dialects.md", "| settings of sarama |", "| settings of a toy | every line |\n")
    scratch.write(TEST, TESTED)


def test_the_listed_files_suffice(tmp_path: Path) -> None:
    check_sufficient(tmp_path, add, LISTED, tests=TESTS)


@pytest.mark.slow
@pytest.mark.parametrize("place", LISTED)
def test_every_listed_file_is_needed(place: str, tmp_path: Path) -> None:
    check_needed(tmp_path, add, LISTED, place=place, tests=TESTS)
