"""Variables of frameworks in manifests that do not name Kafka: what they set is not passed over."""

from __future__ import annotations

import pytest

from proofka.model.deployment.dialects import compose, kubernetes
from proofka.model.deployment.dialects.component import EVERYTHING
from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.dialects.recognising import dialect_of

COMPOSE = "services:\n  app:\n    image: acme/app:1\n    environment:\n      {}: '0'\n"
MANIFEST = (
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: app}}\nspec:\n  template:\n    spec:\n      containers:\n"
    "      - name: app\n        image: acme/app:1\n        env:\n        - name: {}\n          value: '0'\n"
)


@pytest.mark.parametrize("variable", ["MP_MESSAGING_OUTGOING_ORDERS_ACKS", "SPRING_CLOUD_STREAM_DEFAULT_ACKS"])
def test_a_variable_that_sets_a_channel_or_binding_is_rejected(variable: str) -> None:
    for name, text, dialect in (("c.yml", COMPOSE, compose.COMPOSE), ("m.yaml", MANIFEST, kubernetes.KUBERNETES)):
        document = Document(name, text.format(variable))
        assert dialect_of(document) is dialect
        rejected = dialect.read(document, {}).rejected
        # It outranks the files of an application, wherever they lie: which one that is nobody says.
        assert [(left.given.key.rpartition(".")[2], left.reaches) for left in rejected] == [(variable, EVERYTHING)]


def test_a_variable_that_is_an_address_keeps_nothing_back() -> None:
    for variable in ("MP_MESSAGING_CONNECTOR_SMALLRYE_KAFKA_BOOTSTRAP_SERVERS", "MP_MESSAGING_INCOMING_X_GROUP_ID"):
        assert not compose.read(Document("c.yml", COMPOSE.format(variable)), {}).rejected
        assert dialect_of(Document("c.yml", COMPOSE.format(variable))) is None
