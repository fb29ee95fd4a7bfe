"""What Java makes of a ``.properties`` file, and what in it is not settled yet: templates, a byte order mark."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from model.deployment.dialects.accounts import Accounts
from model.deployment.dialects.document import Document
from model.deployment.dialects.said import Said
from model.deployment.dialects.templates import is_place, is_tag

PART_OF_A_TEMPLATE = "belongs to a template, which is no setting by itself"
MAY_BE_LEFT_OUT = "a template decides whether it is there; fill the template in first"
OVER_LINES = "a template stands in its value; fill the template in first"
IN_PLACE_OF_A_KEY = "a template stands in the place of a key; fill the template in first"
MARKED = "comes after a byte order mark, which Java takes for a part of this key; save the file without"
NO_NAME = "has no name"


def read_properties(
    document: Document, accounts: Accounts, matters: Callable[[str], bool], who: str = "Java", file: str = ""
) -> list[Said]:
    """The settings that are there in any case, each key once; the others are accounted for.

    ``matters``: whether a key would matter, so that it is rejected and not ignored where a template has it.
    ``file``: its name, if it is not the file that the accounts are of.
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
