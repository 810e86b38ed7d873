"""The container image, as far as it can be tried without an engine.

Proves: the image runs the scripts that the root file system runs, and its entry point makes, keeps
and updates a server; it is run here inside that root file system.
"""

from __future__ import annotations

import re
import shlex
import signal
import socket
import stat
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from server_checkout import REPOSITORY, Checkout

ENTRYPOINT = "/usr/src/memwarden/deploy/docker-entrypoint"
PASSWORD = "correct horse"
KEY = "0123456789abcdef" * 4


def free_port() -> int:
    """A port of this machine that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Container:
    """What a container keeps between two starts: its volumes and its mounted secrets."""

    def __init__(self, checkout: Checkout, volumes: Path) -> None:
        self.checkout = checkout
        self.volumes = volumes
        volumes.mkdir(mode=0o755)
        self.port = free_port()
        self.environment = {
            "PGDATA": str(volumes / "data"),
            "MEMWARDEN_KEYS": str(volumes / "keys"),
            "MEMWARDEN_MASTER_KEY_SECRET": str(volumes / "key-secret"),
            "POSTGRES_PASSWORD": PASSWORD,
        }

    def command(self) -> list[str]:
        """The entry point as an engine would start it, as root, with one argument of its own."""
        settings = [f"{name}={value}" for name, value in self.environment.items()]
        arguments = ["-c", f"port={self.port}", "-c", "listen_addresses=127.0.0.1"]
        server = str(self.checkout.directory / "deploy/server")
        return [server, "exec", "--root", "env", *settings, ENTRYPOINT, *arguments]

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run the entry point until its server answers, and end it as an engine does."""
        process = subprocess.Popen(self.command(), stderr=subprocess.PIPE, text=True)
        try:
            for _ in range(300):
                if process.poll() is not None or self.is_healthy():
                    break
                time.sleep(0.1)
            assert process.poll() is None, process.stderr.read() if process.stderr else ""
            yield
        finally:
            process.send_signal(stop_signal())
            process.communicate(timeout=60)

    def is_healthy(self) -> bool:
        """The image's own health check, on this container's port."""
        check = ["pg_isready", "--quiet", "--host=127.0.0.1", f"--port={self.port}"]
        return self.checkout.run("deploy/server", "exec", *check, check=False).returncode == 0

    def query(self, sql: str, password: str = PASSWORD) -> subprocess.CompletedProcess[str]:
        """Run SQL over TCP, the way another machine would."""
        dsn = f"host=127.0.0.1 port={self.port} user=postgres dbname=memwarden"
        psql = ["psql", "--no-psqlrc", "--no-password", "-qAt", dsn, "-c", sql]
        server = [str(self.checkout.directory / "deploy/server"), "exec"]
        return self.checkout.run(*server, *psql, check=False, env={"PGPASSWORD": password})


def stop_signal() -> int:
    """The signal that the Dockerfile asks for."""
    match = re.search(r"^STOPSIGNAL (\w+)$", (REPOSITORY / "Dockerfile").read_text(), re.MULTILINE)
    assert match
    return signal.Signals[match[1]]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checkout]:
    """A checkout with its extension installed and no cluster of its own."""
    result = Checkout(tmp_path_factory.mktemp("image") / "checkout", "image")
    try:
        result.server("install")
        yield result
    finally:
        result.server("clean")


@pytest.fixture
def container(checkout: Checkout) -> Container:
    """A container that was never started."""
    return Container(checkout, Path(checkout.server("shared"), uuid.uuid4().hex))


def test_the_first_start_makes_a_server_with_the_extension(container: Container) -> None:
    """Reached over TCP with the password, never without it, and the next start keeps the data."""
    with container.running():
        assert container.query("SELECT memwarden.setup()").stdout == "image\n"
        # Who finds the server healthy finds the dictionary there.
        assert container.query("TABLE memwarden.loaded").returncode == 0
        assert container.query("CREATE TABLE kept AS SELECT 1 AS value").returncode == 0
        assert "authentication failed" in container.query("SELECT 1", "wrong").stderr
    del container.environment["POSTGRES_PASSWORD"]
    with container.running():
        assert container.query("SELECT value FROM kept").stdout == "1\n"
        key = container.volumes / "keys/master.key"
        assert stat.S_IMODE(key.stat().st_mode) == 0o400
        assert re.fullmatch("[0-9a-f]{64}", key.read_text())


def test_mounted_secrets_are_used_and_not_copied_to_a_volume(container: Container) -> None:
    """The password and the key come from files that only root can read."""
    for name, content in (("key-secret", KEY), ("password-secret", PASSWORD + "\n")):
        (container.volumes / name).write_text(content)
        (container.volumes / name).chmod(0o400)
    del container.environment["POSTGRES_PASSWORD"]
    container.environment["POSTGRES_PASSWORD_FILE"] = str(container.volumes / "password-secret")
    with container.running():
        read_key = """
            CREATE FUNCTION pg_temp.key() RETURNS text LANGUAGE plpython3u AS
            $$ import os; return open(os.environ["MEMWARDEN_MASTER_KEY_FILE"]).read() $$;
            SELECT pg_temp.key()"""
        assert container.query("CREATE EXTENSION plpython3u").returncode == 0
        assert container.query(read_key).stdout.strip() == KEY
    # The generations of subject keys are made there, and are nobody's secret from outside.
    [made] = (container.volumes / "keys").iterdir()
    assert made.name == "master.key.subjects"
    assert KEY not in made.read_text()


def test_a_trial_asks_for_no_password(container: Container) -> None:
    """With the options of README's `docker run`, which publishes the port to this machine alone."""
    readme = (REPOSITORY / "README.md").read_text()
    [line] = re.findall(r"^docker build .* && (docker run .*)$", readme, re.MULTILINE)
    words = shlex.split(line)
    given = dict(pairwise(words))
    assert given["--publish"] == "127.0.0.1:5432:5432"
    assert words[-1] in (REPOSITORY / "Dockerfile").read_text()
    del container.environment["POSTGRES_PASSWORD"]
    name, _, value = given["--env"].partition("=")
    container.environment[name] = value
    with container.running():
        assert container.query("SELECT current_user", "").stdout == "postgres\n"


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("POSTGRES_HOST_AUTH_METHOD", "md5", "is scram-sha-256 or trust"),
        ("POSTGRES_PASSWORD", "", "set POSTGRES_PASSWORD"),
        ("MEMWARDEN_MASTER_KEY_SECRET", "/etc/hostname", "master key is not 64"),
    ],
)
def test_a_start_without_a_password_or_with_a_bad_key_is_refused(
    container: Container, name: str, value: str, complaint: str
) -> None:
    """It says what is missing and makes no cluster."""
    container.environment[name] = value
    result = container.checkout.run(*container.command(), check=False)
    assert result.returncode == 1
    assert complaint in result.stderr
    assert not (container.volumes / "data/cluster").exists()


def test_the_image_runs_what_the_root_file_system_runs() -> None:
    """Every RUN is the set-up script or a make target, and every file it copies exists."""
    instructions = (REPOSITORY / "Dockerfile").read_text().splitlines()
    runs = [line for line in instructions if line.startswith("RUN ")]
    assert [run.split()[1] for run in runs] == ["/opt/memwarden/setup-server", "make"]
    sources = [
        source for line in instructions if line.startswith("COPY ") for source in line.split()[1:-1]
    ]
    assert [source for source in sources if not (REPOSITORY / source).exists()] == []


def test_the_compose_file_mounts_the_secrets_that_make_secrets_makes(
    checkout: Checkout,
) -> None:
    """The names agree, the files are the user's alone, and a second run keeps them."""
    compose = yaml.safe_load((REPOSITORY / "compose.yaml").read_text())
    service = compose["services"]["memwarden"]
    assert set(service["secrets"]) == set(compose["secrets"])
    assert {volume.split(":")[0] for volume in service["volumes"]} == set(compose["volumes"])
    checkout.run("make", "secrets")
    files = [checkout.directory / secret["file"] for secret in compose["secrets"].values()]
    before = [file.read_text() for file in files]
    checkout.run("make", "secrets")
    assert [file.read_text() for file in files] == before
    assert all(re.fullmatch("[0-9a-f]{64}", text) for text in before)
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
