"""The server that `make db` and the tests bring along.

Proves: two checkouts do not collide, a second start is cheap, a crash is survived, nothing is left.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from server_checkout import SOCKET_NAME, Checkout


@pytest.fixture(scope="module")
def checkouts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Checkout, Checkout]]:
    """Two checkouts, each with its extension installed and a running cluster `test`."""
    one = Checkout(tmp_path_factory.mktemp("one") / "checkout", "one")
    two = Checkout(tmp_path_factory.mktemp("two") / "check out", "two")

    def bring_up(checkout: Checkout) -> None:
        checkout.server("install")
        checkout.server("up", "test")

    try:
        with ThreadPoolExecutor() as pool:
            list(pool.map(bring_up, (one, two)))
        yield one, two
    finally:
        one.server("clean")
        two.server("clean")


@pytest.fixture
def checkout(checkouts: tuple[Checkout, Checkout]) -> Checkout:
    """The first of the two checkouts, its cluster running."""
    checkouts[0].server("up", "test")
    return checkouts[0]


def socket_directory(checkout: Checkout, cluster: str) -> Path:
    """Where a cluster's socket is, taken from its connection string."""
    return Path(checkout.server("dsn", cluster).split()[0].removeprefix("host="))


def test_two_checkouts_have_their_own_server_and_their_own_extension(
    checkouts: tuple[Checkout, Checkout],
) -> None:
    """Started at the same moment, from the same root file system, with the same cluster name."""
    answers = [
        checkout.query("test", "CREATE EXTENSION memwarden; SELECT memwarden.setup()")
        for checkout in checkouts
    ]
    assert answers == ["one", "two"]
    base = Path(checkouts[0].server("root"), "usr/share/postgresql")
    assert not list(base.glob("*/extension/memwarden*"))


def test_a_second_up_leaves_the_running_server_alone(checkout: Checkout) -> None:
    """The postmaster is the same process and its settings are those of the first start."""
    before = checkout.query("test", "SELECT pg_postmaster_start_time()")
    checkout.server("up", "test", "-c", "work_mem=5MB")
    assert checkout.query("test", "SELECT pg_postmaster_start_time()") == before


def test_a_command_does_not_make_anew_what_another_is_about_to_run(checkout: Checkout) -> None:
    """The programs inside the root are exchanged only when the checkout's changed."""
    program = "/usr/lib/memwarden/backup"
    before = checkout.server("exec", "stat", "-c", "%i %z", program)
    assert checkout.server("exec", "stat", "-c", "%i %z", program) == before
    with (checkout.directory / "deploy/lib/backup").open("a", encoding="utf-8") as script:
        script.write("# a newer one\n")
    assert checkout.server("exec", "tail", "-n", "1", program).strip() == "# a newer one"


def test_the_connection_string_is_one_line_and_works_outside_the_root(checkout: Checkout) -> None:
    """`make dsn` and `make -s dsn` print the same line and nothing on the error stream."""
    loud, silent = checkout.run("make", "dsn"), checkout.run("make", "-s", "dsn")
    assert loud.stdout == silent.stdout
    assert loud.stderr == ""
    assert loud.stdout.count("\n") == 1
    directory = socket_directory(checkout, "test")
    assert stat.S_ISSOCK((directory / SOCKET_NAME).stat().st_mode)
    assert len(str(directory / SOCKET_NAME)) < 100


def test_only_the_invoking_user_can_reach_the_socket_and_the_data(checkout: Checkout) -> None:
    """The directories above them are closed to everybody else, and the server has no port."""
    state = Path(checkout.server("sharedir")).parent
    for closed in (socket_directory(checkout, "test").parents[1], state.parents[1]):
        assert stat.S_IMODE(closed.stat().st_mode) == 0o700
        assert closed.stat().st_uid == os.getuid()
    assert checkout.query("test", "SHOW listen_addresses") == ""


def test_the_master_key_is_the_servers_alone_and_outside_its_data(checkout: Checkout) -> None:
    """32 random bytes in a file that only the operating system user of the server can read."""
    checkout.query("test", "CREATE EXTENSION IF NOT EXISTS plpython3u")
    path = checkout.query(
        "test",
        """CREATE FUNCTION pg_temp.key_file() RETURNS text LANGUAGE plpython3u AS
           $$ import os; return os.environ["MEMWARDEN_MASTER_KEY_FILE"] $$;
           SELECT pg_temp.key_file()""",
    )
    data = checkout.query("test", "SHOW data_directory")
    assert not path.startswith(data)
    assert checkout.server("exec", "stat", "-c", "%a %U %s", path) == "400 postgres 64"
    assert bytes.fromhex(checkout.server("exec", "cat", path))


def test_a_crashed_server_starts_again_with_its_data(checkout: Checkout) -> None:
    """SIGQUIT to the postmaster loses nothing that was committed."""
    checkout.query("test", "CREATE TABLE kept AS SELECT 1 AS value")
    checkout.server("kill", "test")
    assert checkout.postmasters() == []
    checkout.server("up", "test")
    assert checkout.query("test", "SELECT value FROM kept") == "1"


def wait_until_it_runs(checkout: Checkout, busy: Future[str]) -> None:
    """Wait until the server has begun with a query that counts; no longer than a minute."""
    running = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query ~ '^DO '"
    for _ in range(600):
        if checkout.query("test", running) == "1":
            return
        assert not busy.done(), f"the query ended by itself: {busy.exception()}"
        time.sleep(0.1)
    pytest.fail("the query did not begin within a minute")


def test_a_server_killed_by_the_kernel_starts_again(checkout: Checkout) -> None:
    """SIGKILL leaves files behind, and a busy backend that holds the shared memory a while."""
    (postmaster,) = checkout.postmasters()
    release = Path(checkout.server("shared"), "release")
    release.unlink(missing_ok=True)
    # It counts until it is told to stop: so it runs for certain. It does not look for its server.
    counting = (
        f"DO $$ BEGIN WHILE pg_stat_file('{release}', true) IS NULL LOOP"
        " PERFORM sum(n) FROM generate_series(1, 1e5) AS n; END LOOP; END $$"
    )
    with ThreadPoolExecutor() as pool:
        busy = pool.submit(checkout.query, "test", counting)
        try:
            wait_until_it_runs(checkout, busy)
            checkout.server("exec", "kill", "-KILL", str(postmaster))
            starting = pool.submit(checkout.server, "up", "test")
            time.sleep(1)
        finally:
            release.touch()
        starting.result()
    assert busy.exception() is None or isinstance(busy.exception(), AssertionError)
    assert checkout.query("test", "SELECT 1") == "1"


def test_a_stale_process_id_does_not_keep_a_server_from_starting(checkout: Checkout) -> None:
    """After a restart of the machine the number may belong to any other process."""
    checkout.server("kill", "test")
    pid_file = "/var/lib/memwarden/test/data/postmaster.pid"
    stranger = subprocess.Popen([str(checkout.directory / "deploy/server"), "exec", "sleep", "60"])
    try:
        checkout.server("exec", "sh", "-c", f"echo {stranger.pid} > {pid_file}")
        checkout.server("up", "test")
    finally:
        stranger.terminate()
        stranger.wait()
    assert checkout.query("test", "SELECT 1") == "1"


def test_a_server_whose_socket_was_swept_away_is_started_again(checkout: Checkout) -> None:
    """Something may empty the temporary directory under a running server."""
    shutil.rmtree(socket_directory(checkout, "test"))
    checkout.server("up", "test")
    assert checkout.query("test", "SELECT 1") == "1"


def test_a_second_cluster_takes_settings_and_a_dump_of_the_first(checkout: Checkout) -> None:
    """A dump written in the shared directory is readable inside and outside the root."""
    checkout.query("test", "CREATE TABLE dumped AS SELECT generate_series(1, 3) AS value")
    checkout.server("up", "second", "-c", "wal_level=logical", "-c", "work_mem=7MB")
    dump = Path(checkout.server("shared"), "first.dump")
    first, second = checkout.server("dsn", "test"), checkout.server("dsn", "second")
    checkout.server("exec", "pg_dump", "-Fc", "-t", "dumped", "-f", str(dump), first)
    checkout.server("exec", "pg_restore", "-d", second, dump.name)
    assert dump.stat().st_size > 0
    assert checkout.query("second", "SELECT sum(value) FROM dumped") == "6"
    assert checkout.query("second", "SHOW wal_level") == "logical"
    assert checkout.query("second", "SHOW work_mem") == "7MB"
    checkout.server("drop", "second")
    assert "second" not in checkout.server("exec", "ls", "/var/lib/memwarden")


def test_a_cluster_in_memory_outlives_a_stop_and_not_a_drop(checkout: Checkout) -> None:
    """As others, but that nothing of it is on disk."""
    checkout.server("up", "swift", "--in-memory")
    assert checkout.query("swift", "SHOW data_directory") == "/mnt/swift/data"
    checkout.query("swift", "CREATE TABLE kept AS SELECT 1 AS value")
    checkout.server("down", "swift")
    checkout.server("up", "swift")
    assert checkout.query("swift", "SELECT value FROM kept") == "1"
    assert "swift" not in checkout.server("exec", "ls", "/var/lib/memwarden")
    checkout.server("drop", "swift")
    assert "swift" not in checkout.server("exec", "ls", "/mnt")


def test_parallel_workers_and_cron_jobs_run(checkout: Checkout) -> None:
    """Dynamic shared memory works inside the root, and jobs need neither a port nor a password."""
    plan = checkout.query(
        "test", "SET debug_parallel_query = on; EXPLAIN ANALYZE SELECT count(*) FROM pg_class"
    )
    assert "Workers Launched: 1" in plan
    checkout.query("test", "CREATE EXTENSION pg_cron", "memwarden_cron")
    checkout.query("test", "SELECT cron.schedule('tick', '1 second', 'SELECT 1')", "memwarden_cron")
    finished = "SELECT status FROM cron.job_run_details WHERE end_time IS NOT NULL LIMIT 1"
    outcome = ""
    for _ in range(100):
        outcome = checkout.query("test", finished, "memwarden_cron")
        if outcome:
            break
        time.sleep(0.1)
    checkout.query("test", "SELECT cron.unschedule('tick')", "memwarden_cron")
    assert outcome == "succeeded"


def test_make_db_installs_the_extension_and_can_be_repeated(checkout: Checkout) -> None:
    """Twice in a row, after which the development database answers, also to a shell's own tools."""
    for _ in range(2):
        said = checkout.run("make", "db").stdout
    [line] = re.findall(r"^ +(eval .*)$", said, re.MULTILINE)
    told = f"{line} && psql -XAtc 'SELECT current_database(), current_user' && createdb app"
    assert checkout.run("bash", "-ec", told).stdout == "memwarden|postgres\n"
    assert "make psql" in said
    assert checkout.query("dev", "SELECT memwarden.setup()", "memwarden") == "one"
    assert checkout.run("make", "psql", stdin=r"\echo :DBNAME").stdout == "memwarden\n"


def test_stopping_leaves_no_process_and_no_mount(checkout: Checkout) -> None:
    """`make stop` ends every cluster of this checkout and no one else's; it may be repeated."""
    checkout.server("up", "dev")
    assert len(checkout.postmasters()) == 2
    checkout.run("make", "stop")
    checkout.run("make", "stop")
    assert checkout.postmasters() == []
    assert "memwarden" not in Path("/proc/self/mounts").read_text()


def test_stopping_one_checkout_leaves_the_other_running(
    checkouts: tuple[Checkout, Checkout],
) -> None:
    """Every checkout stops its own servers only."""
    one, two = checkouts
    two.server("up", "test")
    one.server("down", "--all")
    assert two.query("test", "SELECT 1") == "1"


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        ([], {}),
        (["unknown"], {}),
        (["up"], {}),
        (["up", "../elsewhere"], {}),
        (["up", "test", "-c"], {}),
        (["exec"], {}),
        (["root"], {"PG": "16"}),
    ],
)
def test_wrong_usage_is_explained(
    checkout: Checkout, arguments: list[str], environment: dict[str, str]
) -> None:
    """Exit status 64, words on the error stream, nothing done."""
    result = checkout.run("deploy/server", *arguments, check=False, env=environment)
    assert result.returncode == 64
    assert result.stdout == ""
    assert result.stderr
