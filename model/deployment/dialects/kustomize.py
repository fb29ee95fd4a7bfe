"""Patches of Kustomize: partial resources, which a ``kustomization.yaml`` names and lays over complete ones."""

from __future__ import annotations

from collections.abc import Iterator
from os.path import normpath
from pathlib import PurePath

from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.dialects.nodes import items_under, text_under
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.yaml_tree import Node, Scalar

_NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
"""The file names that Kustomize looks for ("Kustomization file" of its reference)."""

_LEVELS = 4
"""The largest number of folders between a kustomization and its patch, plus one."""


def is_patch(document: Document) -> bool:
    """Tell whether a kustomization in its folder, or in one above, names the file as a patch."""
    if document.inside:
        return False
    own = normpath(document.file)
    for folder in list(PurePath(own).parents)[:_LEVELS]:
        for name in _NAMES:
            kustomization = Document(str(folder / name), "").beside(name)
            if kustomization is not None and own in {normpath(folder / path) for path in _patches(kustomization)}:
                return True
    return False


def _patches(kustomization: Document) -> Iterator[str]:
    try:
        nodes = kustomization.yaml
    except DeploymentError:
        return
    for node in nodes:
        yield from _paths(node)


def _paths(node: Node) -> Iterator[str]:
    for key in ("patches", "patchesJson6902"):
        yield from (path for item in items_under(node, key) if (path := text_under(item, "path")))
    for item in items_under(node, "patchesStrategicMerge"):
        if isinstance(item, Scalar) and "\n" not in item.text:
            yield item.text
