"""The channels that come with the worker, against servers on this machine."""

from __future__ import annotations

import contextlib
import socket
import ssl
import uuid
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, Envelope, LoginPassword
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from memwarden.errors import InvalidArgument
from memwarden.worker import PluginError
from memwarden.worker.channels.email import Email
from memwarden.worker.channels.webhook import Webhook
from memwarden.worker.discovery import available_channels, load_channels
from memwarden.worker.plugins.http_gate import signature
from write.worker.desk import serving

NOTICE = {
    "id": "01890a5d-ac96-774b-bcce-b302099a8057",
    "event": "opened",
    "proposal_id": "01890a5d-ac96-774b-bcce-b302099a8058",
    "layer": "semantic",
    "scope": "/org/acme/user/ana",
    "tier": "async",
    "risk": 0.41,
    "reasons": ["LAYER_POLICY", "RISK"],
    "state": "pending",
    "escalated": 0,
    "link": "https://reviews.example/p/01890a5d-ac96-774b-bcce-b302099a8058",
}


def test_a_webhook_gets_the_notice_signed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a time that is signed too, and an id to know it again by.

    Proves: Z9
    """
    monkeypatch.setenv("MEMWARDEN_SECRET_DESK", "topsecret")
    got: list[tuple[dict[str, Any], Mapping[str, str]]] = []

    def answer(body: dict[str, Any], headers: Mapping[str, str]) -> tuple[int, Any]:
        got.append((body, headers))
        return 204, b""

    with serving(answer) as url:
        Webhook().send(NOTICE, url, {"secret_env": "MEMWARDEN_SECRET_DESK"})
        Webhook().send(NOTICE, url, {})
    (body, headers), (_, unsigned) = got
    assert body == NOTICE
    assert headers["idempotency-key"] == NOTICE["id"]
    stamp = headers["x-memwarden-timestamp"]
    assert abs(datetime.fromtimestamp(int(stamp), UTC) - datetime.now(UTC)) < timedelta(hours=1)
    expected = signature("topsecret", stamp, headers[""].encode())
    assert headers["x-memwarden-signature"] == expected
    assert "x-memwarden-signature" not in unsigned


@pytest.mark.parametrize(
    ("status", "permanent"),
    [(500, False), (429, False), (404, False), (302, False), (307, False), (410, True)],
)
def test_what_is_not_taken_is_not_sent(status: int, permanent: bool) -> None:
    """A redirect is followed nowhere; an address that is gone is not asked again.

    Proves: Z9
    """
    asked = []

    def elsewhere(*_: Any) -> tuple[int, Any]:
        asked.append("elsewhere")
        return 200, {}

    with (
        serving(elsewhere) as other,
        serving(lambda *_: (status, other.encode() if status in (302, 307) else {})) as url,
        pytest.raises(PluginError) as raised,
    ):
        Webhook().send(NOTICE, url, {})
    assert raised.value.permanent is permanent
    assert asked == []


@pytest.mark.parametrize(
    ("target", "settings"),
    [
        ("http://reviews.example/", {}),
        ("file:///etc/passwd", {}),
        ("https://reviews.example/", {"secret_env": "HOME"}),
        ("https://reviews.example/", {"timeout": 3600}),
    ],
)
def test_a_webhook_goes_to_https_only_and_reads_no_other_variable(
    target: str, settings: dict[str, Any]
) -> None:
    """Nothing is sent otherwise.

    Proves: Z9
    """
    with pytest.raises(PluginError):
        Webhook().send(NOTICE, target, settings)


def test_an_address_that_does_not_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a word about what was sent.

    Proves: Z9
    """
    monkeypatch.setenv("MEMWARDEN_SECRET_DESK", "topsecret")
    with pytest.raises(PluginError) as raised:
        Webhook().send(
            NOTICE, "http://127.0.0.1:9/", {"secret_env": "MEMWARDEN_SECRET_DESK", "timeout": 2}
        )
    assert not raised.value.permanent
    assert "topsecret" not in str(raised.value)


class Mailbox:
    """What the mail server of a test took."""

    def __init__(self) -> None:
        self.mails: list[Message] = []
        self.logins: list[str] = []
        self.encrypted: list[bool] = []
        self.refuse = ""

    async def take(self, _server: Any, session: Any, envelope: Envelope) -> str:
        """Take a mail, or do not."""
        if self.refuse:
            return self.refuse
        assert isinstance(envelope.content, bytes)
        self.mails.append(message_from_bytes(envelope.content))
        self.encrypted.append(session.ssl is not None)
        return "250 OK"

    # So the server calls it.
    handle_DATA = take  # noqa: N815


@contextlib.contextmanager
def mail_server(mailbox: Mailbox, **options: Any) -> Iterator[int]:
    """Yield the port of a mail server on this machine."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    controller = Controller(mailbox, hostname="127.0.0.1", port=port, **options)
    controller.start()
    try:
        yield port
    finally:
        controller.stop()


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Return a certificate for this machine, and its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path / "server.pem"
    path.write_bytes(
        made.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return path


@pytest.fixture
def post(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Set the worker's environment for a mail server on this machine."""
    monkeypatch.setenv("MEMWARDEN_SMTP_HOST", "localhost")
    monkeypatch.setenv("MEMWARDEN_SMTP_FROM", "memwarden@acme.example")
    return monkeypatch


def test_a_mail_says_where_and_how_urgent(post: pytest.MonkeyPatch) -> None:
    """To all who are named, under an id that is that of the notice.

    Proves: Z9
    """
    mailbox = Mailbox()
    with mail_server(mailbox) as port:
        post.setenv("MEMWARDEN_SMTP_PORT", str(port))
        Email().send(NOTICE, "ana@acme.example, bo@acme.example", {})
        Email().send(NOTICE | {"event": "escalated", "escalated": 2}, "ana@acme.example", {})
    first, second = mailbox.mails
    assert first["Message-ID"] == f"<{NOTICE['id']}@memwarden>"
    assert first["Auto-Submitted"] == "auto-generated"
    assert first["To"] == "ana@acme.example, bo@acme.example"
    assert first["Subject"] == (
        "[memwarden] a write waits for a review (semantic, /org/acme/user/ana)"
    )
    text = first.get_payload()
    assert isinstance(text, str)
    for said in ("risk: 0.41", "reasons: LAYER_POLICY, RISK", str(NOTICE["link"])):
        assert said in text
    assert "overdue, level 2" in second["Subject"]


def test_mail_is_sent_over_tls_with_the_name_and_password_of_the_environment(
    post: pytest.MonkeyPatch, certificate: Path
) -> None:
    """Where the certificate cannot be checked, nothing is sent.

    Proves: Z9
    """
    mailbox = Mailbox()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)

    def authenticate(_s: Any, _se: Any, _e: Any, _m: str, given: LoginPassword) -> AuthResult:
        mailbox.logins.append(f"{given.login.decode()}:{given.password.decode()}")
        return AuthResult(success=given.password == b"correct horse", handled=False)

    options = {"tls_context": context, "require_starttls": True, "authenticator": authenticate}
    with mail_server(mailbox, **options) as port:
        post.setenv("MEMWARDEN_SMTP_PORT", str(port))
        post.setenv("MEMWARDEN_SMTP_USER", "desk")
        post.setenv("MEMWARDEN_SECRET_SMTP", "correct horse")
        with pytest.raises(PluginError) as raised:
            Email().send(NOTICE, "ana@acme.example", {})
        assert "SSLCertVerificationError" in str(raised.value)
        post.setenv("SSL_CERT_FILE", str(certificate))
        Email().send(NOTICE, "ana@acme.example", {})
        assert mailbox.encrypted == [True]
        assert mailbox.logins == ["desk:correct horse"]
        post.setenv("MEMWARDEN_SECRET_SMTP", "wrong horse")
        with pytest.raises(PluginError) as raised:
            Email().send(NOTICE, "ana@acme.example", {})
        assert str(raised.value) == "the mail server answers with 535"
    assert len(mailbox.mails) == 1


def test_mail_that_cannot_be_sent_is_not_thrown_away(post: pytest.MonkeyPatch) -> None:
    """A server that is busy, absent or not named; an address that is none.

    Proves: Z9
    """
    mailbox = Mailbox()
    mailbox.refuse = "451 later"
    with mail_server(mailbox) as port:
        post.setenv("MEMWARDEN_SMTP_PORT", str(port))
        with pytest.raises(PluginError, match="451"):
            Email().send(NOTICE, "ana@acme.example", {})
        with pytest.raises(PluginError):
            Email().send(NOTICE, "ana@acme.example\nBcc: eve@evil.example", {})
    with pytest.raises(PluginError):
        Email().send(NOTICE, "ana@acme.example", {})
    post.delenv("MEMWARDEN_SMTP_HOST")
    with pytest.raises(PluginError, match="MEMWARDEN_SMTP_HOST"):
        Email().send(NOTICE, "ana@acme.example", {})


def test_channels_are_found_and_loaded_by_name() -> None:
    """Those that come along, and none that is not there.

    Proves: Z9
    """
    assert {"email", "webhook"} <= set(available_channels())
    assert set(load_channels(["webhook"])) == {"webhook"}
    with pytest.raises(InvalidArgument):
        load_channels([uuid.uuid4().hex])
