"""The language model as a judge: its key is for one service alone."""

from __future__ import annotations

import json
import logging
import os
import ssl
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from client.judges.endpoint import NEW, OLD, Pauses, Reply, chat, model, says, writes
from memwarden.judges import NoVerdict
from memwarden.judges.llm import LlmJudge
from memwarden.worker import PluginError

SECRET = "MEMWARDEN_SECRET_MODEL"
KEY = "sk-very-secret-4711"


def test_no_redirect_is_followed() -> None:
    """The key is for one address.

    Proves: V7 (the language model)
    """
    with chat(lambda *_: says("same")) as other:
        for status in (301, 302, 303, 307, 308):
            moved = Reply(status, headers={"Location": other.url})
            with chat(lambda *_, moved=moved: moved) as endpoint, pytest.raises(NoVerdict):
                LlmJudge(model(endpoint)).judge(NEW, OLD)
    assert not other.asked


def test_no_proxy_is_told_what_is_meant_for_this_machine() -> None:
    """Whatever the environment says of proxies.

    Proves: V7 (the language model)
    """
    program = (
        "import sys\nfrom client.judges.endpoint import NEW, OLD, model\n"
        "from memwarden.judges.llm import LlmJudge\n"
        "print(LlmJudge(model(sys.argv[1])).judge(NEW, OLD).relation)"
    )
    with chat(lambda *_: says("wider")) as proxy, chat(lambda *_: says("same")) as endpoint:
        done = subprocess.run(
            [sys.executable, "-c", program, endpoint.url],
            env={
                "PYTHONPATH": ":".join(sys.path),
                "MEMWARDEN_HOSTS_FILE": os.environ["MEMWARDEN_HOSTS_FILE"],
                "http_proxy": proxy.url,
            },
            check=True,
            capture_output=True,
            text=True,
        )
    assert done.stdout == "same\n"
    assert not proxy.asked


@pytest.mark.parametrize("from_file", [False, True])
def test_the_key_is_told_to_the_service_alone(
    from_file: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Not to logs, errors, verdicts, or whoever prints the model.

    Proves: V7 (the language model)
    """
    if from_file:
        (tmp_path / "key").write_text(f"{KEY}\n")
        monkeypatch.setenv(f"{SECRET}_FILE", str(tmp_path / "key"))
    else:
        monkeypatch.setenv(SECRET, KEY)
    caplog.set_level(logging.DEBUG)
    replies = [says("same"), Reply(401, KEY.encode()), writes(f"your key is {KEY}"), Reply(500)]
    with chat(lambda _, number: replies[min(number, 3)]) as endpoint:
        asked = model(endpoint, secret_env=SECRET)
        judge = LlmJudge(asked, sleep=Pauses())
        told: list[object] = [judge.judge(NEW, OLD), asked, judge, judge.__dict__]
        for _ in range(3):
            with pytest.raises(NoVerdict) as raised:
                judge.judge(NEW, OLD)
            told.append(str(raised.value))
    assert {each.headers["Authorization"] for each in endpoint.asked} == {f"Bearer {KEY}"}
    assert not any(KEY in json.dumps(each.body) for each in endpoint.asked)
    out, err = capfd.readouterr()
    assert KEY not in repr(told) + caplog.text + out + err


def test_a_key_that_cannot_be_found_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its variable.

    Proves: V7 (the language model)
    """
    with pytest.raises(PluginError, match=f"{SECRET} is not set"):
        model("https://127.0.0.1:1/", secret_env=SECRET)
    monkeypatch.setenv(f"{SECRET}_FILE", str(tmp_path / "nowhere"))
    with pytest.raises(PluginError, match=f"{SECRET}_FILE cannot be read"):
        model("https://127.0.0.1:1/", secret_env=SECRET)


@pytest.mark.parametrize(
    ("url", "is_refused"),
    [
        ("https://models.example/v1/chat/completions", False),
        ("http://localhost:11434/v1/chat/completions", False),
        ("http://models.example/v1/chat/completions", True),
        ("http://localhost.example/", True),
        ("http://127.0.0.1@models.example/", True),
        ("http://[::", True),
        ("file:///etc/passwd", True),
    ],
)
def test_no_key_travels_in_the_open(
    url: str, is_refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only to this machine, where nobody can read along.

    Proves: V7 (the language model)
    """
    monkeypatch.setenv(SECRET, KEY)
    asked = model(url, secret_env=SECRET)
    if is_refused:
        with pytest.raises(PluginError, match="https"):
            LlmJudge(asked)
    else:
        LlmJudge(asked)


def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path: Path) -> None:
    """Before a word is sent.

    Proves: V7 (the language model)
    """
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append(self.path)

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(self_signed(tmp_path))
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        server.handle_error = lambda *_: None  # type: ignore[method-assign]
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            with pytest.raises(NoVerdict, match="SSLCertVerificationError"):
                LlmJudge(model(f"https://127.0.0.1:{server.server_port}/")).judge(NEW, OLD)
        finally:
            server.shutdown()
            thread.join()
    assert not seen


def self_signed(folder: Path) -> Path:
    """A key and a certificate for this machine that nobody signed, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    file = folder / "both.pem"
    file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    return file
