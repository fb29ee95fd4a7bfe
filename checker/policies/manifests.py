"""Policies of other products in YAML whose rules are expressions in CEL.

A ``ResourcePolicy`` of Conduktor has ``spec.rules`` with a ``condition`` each; a ``ValidatingAdmissionPolicy`` of
Kubernetes has ``spec.validations`` with an ``expression`` each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from proofka.checker.policies.cel import read_cel
from proofka.checker.policies.errors import OutsideSubsetError, PolicyError, PolicyFileError
from proofka.checker.policies.places import in_yaml
from proofka.checker.policies.policy import Policy, Rule
from proofka.checker.policies.valid_values import check_values_exist
from proofka.model.deployment import yaml_tree
from proofka.model.deployment.hiding import printable


@dataclass(frozen=True)
class Manifest:
    """The keys of a kind of policy, below ``spec``.

    ``narrows``: keys that restrict what the policy applies to; with one of them, rules would be read wrongly.
    """

    rules: str
    expression: str
    message: str
    narrows: tuple[str, ...]


MANIFESTS: Mapping[str, Manifest] = {
    "ResourcePolicy": Manifest("rules", "condition", "errorMessage", ()),
    "ValidatingAdmissionPolicy": Manifest("validations", "expression", "message", ("matchConditions", "variables")),
}
"""The kinds of policies that are read."""

TARGET = "targetKind"
TOPIC = "Topic"
"""The kind of resource whose settings rules can read."""


def kind_of(root: yaml_tree.Node) -> str | None:
    """Return the kind of a document that is a policy of another product; None for other documents."""
    kind = _text(_below(root, "kind"))
    return kind if kind in MANIFESTS else None


def read_manifest(root: yaml_tree.Node, kind: str, file: str, stem: str, source: str) -> Policy:
    """Return the policy of a document of a kind. An error about one rule is a problem of the policy.

    ``source``: the text of the file.
    """
    manifest = MANIFESTS[kind]
    spec = _below(root, "spec")
    target = _below(spec, TARGET)
    if target is not None and _text(target) != TOPIC:
        what = f"is about {printable(_text(target) or '')}; rules are decided for topics alone"
        raise OutsideSubsetError(what, file=file, line=target.line)
    for key in manifest.narrows:
        if (narrowing := _below(spec, key)) is not None:
            what = f"spec.{key} is not read, and the rules depend on it; write a policy in YAML of Proofka"
            raise OutsideSubsetError(what, file=file, line=narrowing.line)
    rules = _below(spec, manifest.rules)
    if not isinstance(rules, yaml_tree.Sequence) or not rules.items:
        raise PolicyFileError(f"has no list spec.{manifest.rules}", file=file, line=root.line)
    found: dict[str, Rule] = {}
    problems: list[PolicyError] = []
    for node in rules.items:
        try:
            rule = _rule(node, manifest, file, source)
            number = sum(name == rule.name or name.startswith(f"{rule.name} (") for name in found)
            found[f"{rule.name} ({number + 1})" if number else rule.name] = rule
        except PolicyError as error:
            problems.append(error)
    named = tuple(replace(rule, name=name) for name, rule in found.items())
    name = _text(_below(_below(root, "metadata"), "name")) or stem
    return Policy(name, file, named, problems=tuple(problems), can_name_property=False)


def _rule(node: yaml_tree.Node, manifest: Manifest, file: str, source: str) -> Rule:
    condition = _below(node, manifest.expression)
    if not isinstance(condition, yaml_tree.Scalar) or not condition.text.strip():
        raise PolicyFileError(f"a rule has no {manifest.expression}", file=file, line=node.line)
    allows = read_cel(condition.text, file, in_yaml(condition, source))
    check_values_exist(allows, file)
    text = " ".join(condition.text.split())
    return Rule(_text(_below(node, manifest.message)) or text, text, allows, line=node.line)


def _below(node: yaml_tree.Node | None, key: str) -> yaml_tree.Node | None:
    if not isinstance(node, yaml_tree.Mapping):
        return None
    return next((entry.node for entry in node.entries if entry.key == key), None)


def _text(node: yaml_tree.Node | None) -> str | None:
    return node.text.strip() if isinstance(node, yaml_tree.Scalar) and not node.null else None
