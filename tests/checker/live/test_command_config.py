"""The file of --command-config: what of it reaches the client, and what is refused."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from proofka.checker.live.command_config import connection
from proofka.checker.live.errors import LiveError, WrongConfig
from proofka.checker.live.jaas import Login, login_of
from tests.checker.live.secured import certificates

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
SECRET = "hunter2"
SASL = f"""security.protocol=SASL_PLAINTEXT
sasl.mechanism=SCRAM-SHA-512
sasl.jaas.config={SCRAM} required username="alice" password="{SECRET}";
"""


def write(folder: Path, text: str) -> Path:
    file = folder / "client.properties"
    file.write_text(text, encoding="utf-8")
    return file


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(WrongConfig) as caught:
        connection("kafka:9092", write(folder, text))
    said = str(caught.value)
    assert SECRET not in said
    assert "\n" not in said
    return said.replace(f"{folder}/", "")


def test_without_a_file() -> None:
    to = connection("kafka-1:9092, kafka-2:9092")
    assert to.bootstrap == ("kafka-1:9092", "kafka-2:9092")
    assert (to.protocol, to.tls, to.login, to.seconds) == ("PLAINTEXT", None, None, 10.0)


@pytest.mark.parametrize(
    "address", ["", ",", "kafka", "kafka:", "kafka:0", "kafka:65536", "http://kafka:9092", "a b:1"]
)
def test_addresses_of_another_form(address: str) -> None:
    with pytest.raises(WrongConfig, match="HOST:PORT"):
        connection(address)


def test_an_address_of_ipv6() -> None:
    assert connection("[::1]:9092").bootstrap == ("[::1]:9092",)


def test_a_login(tmp_path: Path) -> None:
    to = connection("kafka:9092", write(tmp_path, SASL + "request.timeout.ms=2500\nclient.id=ci\nacks=all\n"))
    assert (to.protocol, to.mechanism, to.login) == ("SASL_PLAINTEXT", "SCRAM-SHA-512", Login("alice", SECRET))
    assert (to.seconds, to.client, to.tls) == (2.5, "ci", None)
    assert SECRET not in repr(to)
    assert connection("kafka:9092", write(tmp_path, SASL + "request.timeout.ms=2500"), 7).seconds == 7


def test_trusted_certificates(tmp_path: Path) -> None:
    authority, key = certificates(tmp_path)
    text = f"security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.location={authority}\n"
    to = connection("kafka:9092", write(tmp_path, text))
    assert to.tls is not None
    assert to.tls.verify_mode == ssl.CERT_REQUIRED
    assert to.tls.check_hostname
    assert len(to.tls.get_ca_certs()) == 1
    own = f"ssl.keystore.type=PEM\nssl.keystore.location={key}\nssl.endpoint.identification.algorithm=\n"
    to = connection("kafka:9092", write(tmp_path, text + own + "ssl.enabled.protocols=TLSv1.2\n"))
    assert to.tls is not None
    assert not to.tls.check_hostname
    assert to.tls.maximum_version == ssl.TLSVersion.TLSv1_2


def test_certificates_in_the_file_itself(tmp_path: Path) -> None:
    authority, key = certificates(tmp_path)

    def line(path: Path) -> str:
        return path.read_text().strip().replace("\n", "\\n")

    private, certificate = key.read_text().split("-----BEGIN CERTIFICATE")
    text = (
        f"security.protocol=SSL\nssl.truststore.certificates={line(authority)}\n"
        f"ssl.keystore.key={private.strip()!r}\n".replace("'", "")
        + f"ssl.keystore.certificate.chain={('-----BEGIN CERTIFICATE' + certificate).strip()!r}\n".replace("'", "")
    )
    to = connection("kafka:9092", write(tmp_path, text))
    assert to.tls is not None
    assert len(to.tls.get_ca_certs()) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("security.protocol=TLS", "client.properties:1: security.protocol: must be one of PLAINTEXT, SSL"),
        ("security.protocol=SASL_SSL", "security.protocol needs sasl.mechanism, one of PLAIN, SCRAM-SHA-256"),
        ("security.protocol=SASL_SSL\nsasl.mechanism=GSSAPI", ":2: sasl.mechanism: must be one of PLAIN"),
        ("security.protocol=SASL_SSL\nsasl.mechanism=PLAIN", "sasl.mechanism needs sasl.jaas.config"),
        (SASL.replace("SCRAM-SHA-512", "PLAIN"), "has the login module of SCRAM, and sasl.mechanism is PLAIN"),
        (SASL.replace(SCRAM, "com.example.Login"), "names another login module than PlainLoginModule"),
        (SASL.replace(";", ""), "is not of the form MODULE required"),
        (SASL.replace('username="alice"', ""), "has no username or no password"),
        (SASL.replace(SECRET, "${file:/secrets:password}"), "has a placeholder, which is not resolved here"),
        (SASL + f"ssl.cipher.suites={SECRET}", "ssl.cipher.suites: OpenSSL has other names"),
        (SASL + f"sasl.jaas.configs={SECRET}", "sasl.jaas.configs: is not known here"),
        (SASL + f"config.providers={SECRET}", "config.providers: providers of values do not run here"),
        (f"request.timeout.ms={SECRET}", "request.timeout.ms: must be a number of milliseconds"),
        ("security.protocol=SSL\nssl.truststore.location=/no/such/file", "cannot be read: no such file"),
        (f"security.protocol=SSL\nssl.truststore.certificates={SECRET}", "has no certificate in PEM"),
        ("security.protocol=SSL\nssl.keystore.key=k", "needs ssl.keystore.certificate.chain"),
        ("security.protocol=SSL\nssl.enabled.protocols=SSLv3", "names none of TLSv1.2, TLSv1.3"),
        ("security.protocol=SSL\nssl.endpoint.identification.algorithm=LDAPS", "must be https, or empty"),
    ],
)
def test_refused_properties(text: str, words: str, tmp_path: Path) -> None:
    assert words in refusal(tmp_path, text)


@pytest.mark.parametrize(
    ("content", "kind", "words"),
    [
        (b"\xfe\xed\xfe\xed\0\0", "", "in the format JKS, which is not read here: write it in PEM (keytool"),
        (b"0\x82\x0a", "", "in the format PKCS12"),
        (b"0\x82\x0a", "ssl.truststore.type=PKCS12\n", "in the format PKCS12"),
    ],
)
def test_stores_of_java_are_refused(content: bytes, kind: str, words: str, tmp_path: Path) -> None:
    store = tmp_path / "trust.jks"
    store.write_bytes(content)
    said = refusal(tmp_path, f"security.protocol=SSL\n{kind}ssl.truststore.location={store}\n")
    assert words in said
    assert "ssl.truststore.type=PEM" in said


def test_a_key_that_does_not_fit(tmp_path: Path) -> None:
    certificates(tmp_path)
    key = tmp_path / "key.pem"
    key.write_text((tmp_path / "authority.key").read_text() + (tmp_path / "server.pem").read_text())
    assert "that fit each other" in refusal(tmp_path, f"security.protocol=SSL\nssl.keystore.location={key}\n")


@pytest.mark.parametrize(
    ("options", "user", "password"),
    [
        ('username="a" password="b c"', "a", "b c"),
        ("username=a password=b", "a", "b"),
        (r'username="a\"b" password="\\"', 'a"b', "\\"),
        ('password="b=;"\n  username="a"', "a", "b=;"),
    ],
)
def test_logins(options: str, user: str, password: str) -> None:
    assert login_of(f"{PLAIN} required\n {options} ;", "PLAIN") == Login(user, password)


def test_a_delegation_token_is_refused() -> None:
    said = login_of(f'{SCRAM} required username="a" password="b" tokenauth="true";', "SCRAM-SHA-256")
    assert isinstance(said, str)
    assert "delegation token" in said


def test_errors_have_codes_and_one_line() -> None:
    assert str(WrongConfig("a\nb")) == "a\N{REPLACEMENT CHARACTER}b (Q02)"
    assert LiveError.status == 2
