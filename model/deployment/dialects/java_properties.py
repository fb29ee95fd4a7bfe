"""Java's interpretation of a ``.properties`` file, and its unsettled parts: templates, a byte order mark."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.dialects.templates import is_place, is_tag

PART_OF_A_TEMPLATE = "belongs to a template, not to a setting"
MAY_BE_LEFT_OUT = "depends on a template; render the template first"
OVER_LINES = "has a template in its value; render the template first"
IN_PLACE_OF_A_KEY = "has a template in place of the key; render the template first"
MARKED = "follows a byte order mark, which Java treats as part of this key; save the file without the mark"
NO_NAME = "has no name"


def read_properties(
    document: Document, accounts: Accounts, matters: Callable[[str], bool], who: str = "Java", file: str = ""
) -> list[Said]:
    """Return the settings that are present in any case, each key once; account for the others.

    ``matters``: tells whether a key matters, so that a template makes it rejected, not ignored. ``file``: its name, if
    it differs from the file of the accounts.
    """
    template = document.template
    kept: list[Said] = []
    for said in (replace(one, file=file) for one in document.properties):
        line = said.line
        if line == 1 and document.has_byte_order_mark:
            accounts.reject(said, MARKED)
        elif is_tag(said.key):
            accounts.ignore(said, PART_OF_A_TEMPLATE)
        elif is_place(said.key):
            accounts.reject(said, IN_PLACE_OF_A_KEY)
        elif not said.key:
            accounts.ignore(said, NO_NAME)
        elif line in template.inside or line in template.blocks:
            reason = MAY_BE_LEFT_OUT if line in template.inside else OVER_LINES
            (accounts.reject if matters(said.key) else accounts.ignore)(said, reason)
        else:
            kept.append(said)
    return accounts.last_of_each(kept, who)
