"""The TLS of a connection, from the properties of Kafka's clients: certificates and keys in PEM (KIP-651)."""

from __future__ import annotations

import ssl
import tempfile
from pathlib import Path

from proofka.checker.live.errors import WrongConfig
from proofka.model.deployment.given import Given, Settings

_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_JKS = b"\xfe\xed\xfe\xed"
_PEM = b"-----BEGIN "
_IN_PEM = {
    "ssl.truststore": "keytool -importkeystore -srckeystore STORE -destkeystore trust.p12 -deststoretype PKCS12; "
    "openssl pkcs12 -in trust.p12 -nokeys -out trust.pem",
    "ssl.keystore": "keytool -importkeystore -srckeystore STORE -destkeystore key.p12 -deststoretype PKCS12; "
    "openssl pkcs12 -in key.p12 -out key.pem",
}
"""The commands that write a store of Java in PEM."""


def context_of(settings: Settings) -> ssl.SSLContext:
    """Return the context of TLS that the properties describe. Raises WrongConfig."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    _limit_versions(context, settings)
    checks = settings.get("ssl.endpoint.identification.algorithm")
    if checks is not None and checks.value.strip().lower() not in ("https", ""):
        raise _wrong(checks, "must be https, or empty for no check of the host's name")
    context.check_hostname = checks is None or bool(checks.value.strip())
    _trust(context, settings)
    _identify(context, settings)
    return context


def _wrong(given: Given, message: str) -> WrongConfig:
    return WrongConfig(f"{given.origin.file}:{given.origin.line}: {given.key}: {message}")


def _limit_versions(context: ssl.SSLContext, settings: Settings) -> None:
    given = settings.get("ssl.enabled.protocols")
    if given is None:
        return
    named = [name.strip() for name in given.value.split(",") if name.strip()]
    versions = [_VERSIONS[name] for name in named if name in _VERSIONS]
    if not versions:
        raise _wrong(given, f"names none of {', '.join(_VERSIONS)}, which this client has")
    context.minimum_version, context.maximum_version = min(versions), max(versions)


def _trust(context: ssl.SSLContext, settings: Settings) -> None:
    """Load the certificates that are trusted: those of the properties, or those of this machine."""
    inline, location = settings.get("ssl.truststore.certificates"), settings.get("ssl.truststore.location")
    given = inline or location
    if given is None:
        context.load_default_certs()
        return
    text = inline.value if inline is not None else _pem_of(settings, "ssl.truststore", given)
    try:
        context.load_verify_locations(cadata=text)
    except (ssl.SSLError, ValueError, TypeError):
        raise _wrong(given, "has no certificate in PEM that can be read") from None


def _identify(context: ssl.SSLContext, settings: Settings) -> None:
    """Load the certificate and the key of this client, if the properties have them."""
    key, chain = settings.get("ssl.keystore.key"), settings.get("ssl.keystore.certificate.chain")
    location = settings.get("ssl.keystore.location")
    if key is None and location is None:
        return
    if key is not None and chain is None:
        raise _wrong(key, "needs ssl.keystore.certificate.chain, the certificate of this key")
    if key is not None and chain is not None:
        given, text = key, f"{key.value.strip()}\n{chain.value.strip()}\n"
    else:
        assert location is not None
        given, text = location, _pem_of(settings, "ssl.keystore", location)
    password = settings["ssl.key.password"].value if "ssl.key.password" in settings else ""
    # OpenSSL reads keys from files only. The folder belongs to this user alone, and is gone after the call.
    with tempfile.TemporaryDirectory(prefix="proofka-") as folder:
        file = Path(folder, "key.pem")
        file.touch(0o600)
        file.write_text(text, encoding="utf-8")
        try:
            context.load_cert_chain(file, password=password)
        except (ssl.SSLError, ValueError):
            why = "a key and its certificate in PEM that fit each other, or ssl.key.password does not open the key"
            raise _wrong(given, f"has not {why}") from None


def _pem_of(settings: Settings, store: str, location: Given) -> str:
    """Return the text of a store, which must be PEM. Raises WrongConfig."""
    file = location.value.strip()
    try:
        content = Path(file).read_bytes()
    except OSError as error:
        raise _wrong(location, f"cannot be read: {(error.strerror or str(error)).lower()}") from None
    kind = settings.get(f"{store}.type")
    if _PEM in content:
        return content.decode("ascii", errors="ignore")
    named = "JKS" if content.startswith(_JKS) else "PKCS12" if kind is None else kind.value.strip()
    message = (
        f"is a store in the format {named}, which is not read here: write it in PEM ({_IN_PEM[store]}), and give "
        f"{store}.type=PEM with the new file"
    )
    raise _wrong(location, message)
