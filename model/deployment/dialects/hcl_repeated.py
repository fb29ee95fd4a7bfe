"""Attributes and resources that stand twice in a Terraform file: only the last is read."""

from __future__ import annotations

from dataclasses import replace

from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.formats.hcl import Attribute, Block
from proofka.model.deployment.dialects.said import Said

AGAIN = "stands again in line {} with another value, and Terraform uses the last one or refuses the file; keep one"
_THE_SAME = "stands again in line {}, with the same value"


def once_each(root: Block, read: frozenset[str], accounts: Accounts) -> Block:
    """Return a file without repetitions. ``read``: the kinds of resources whose values count.

    An earlier attribute or resource is ignored if the later is equal, and rejected otherwise.
    """
    blocks: dict[tuple[str, ...], Block] = {}
    for at, block in enumerate(root.blocks):
        is_read = block.kind in ("locals", "variable") or (len(block.names) == 3 and block.names[1] in read)
        one = _without_repeated(block, block.names[1:], accounts) if is_read else block
        name = one.names if is_read and block.kind == "resource" else (*one.names, str(at))
        before = blocks.pop(name, None)
        if before is not None:
            is_equal = _text(before) == _text(one)
            _leave_out(Said(before.names[1:], "", before.line), one.line, accounts, is_equal=is_equal)
        blocks[name] = one
    return replace(root, blocks=tuple(blocks.values()))


def _without_repeated(block: Block, path: tuple[str, ...], accounts: Accounts) -> Block:
    attributes: dict[str, Attribute] = {}
    for one in block.attributes:
        before = attributes.pop(one.name, None)
        if before is not None:
            is_equal = before.expression.text == one.expression.text
            _leave_out(Said((*path, one.name), "", before.line), one.line, accounts, is_equal=is_equal)
        attributes[one.name] = one
    inner = tuple(_without_repeated(one, (*path, *one.names), accounts) for one in block.blocks)
    return replace(block, attributes=tuple(attributes.values()), blocks=inner)


def _leave_out(said: Said, line: int, accounts: Accounts, *, is_equal: bool) -> None:
    if is_equal:
        accounts.ignore(said, _THE_SAME.format(line))
    else:
        accounts.reject(said, AGAIN.format(line))


def _text(block: Block) -> tuple[object, ...]:
    """Return the content of a block, without its places."""
    own = tuple((one.name, one.expression.text) for one in block.attributes)
    return (block.names, own, tuple(_text(one) for one in block.blocks))
