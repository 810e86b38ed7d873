"""Code in the sandbox tries to get out, to see, to stay or to use up; the next run is as any other.

Each attempt ends with status 0 where it succeeds, so what is proved is that none does.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from memwarden.worker import PluginError, sandbox
from memwarden.worker.sandbox.system_calls import DENIED

pytestmark = pytest.mark.skipif(
    shutil.which("bwrap") is None,
    reason="bubblewrap is not installed: apt-get install bubblewrap",
)

ROOT = Path(__file__).parents[3]
PYTHON = ["/usr/bin/python3", "-E", "-s", "-S", "-B", "attempt.py"]
BOUNDS = sandbox.Bounds(seconds=20)


def run(code: str, bounds: sandbox.Bounds = BOUNDS) -> sandbox.Run:
    """Run Python in the sandbox."""
    return sandbox.run(PYTHON, {"attempt.py": textwrap.dedent(code).encode()}, bounds)


def shell(code: str) -> sandbox.Run:
    """Run a shell in the sandbox."""
    return sandbox.run(["/usr/bin/sh", "attempt.sh"], {"attempt.sh": code.encode()}, BOUNDS)


@pytest.fixture(autouse=True, scope="module")
def unharmed() -> Iterator[None]:
    """Whatever a test did, the next run works: each says something, and so does one after all."""
    yield
    assert run("print(6 * 7)").output == "42\n"


@pytest.fixture(scope="module")
def numbers() -> dict[str, int]:
    """The numbers of the system calls that are denied."""
    code = (
        "import ctypes, sys; resolve = ctypes.CDLL('libseccomp.so.2').seccomp_syscall_resolve_name;"
        " print(*(resolve(name.encode()) for name in sys.argv[1:]))"
    )
    found = subprocess.check_output([sys.executable, "-c", code, *DENIED], text=True)
    return dict(zip(DENIED, map(int, found.split()), strict=True))


FROM_PYTHON = {
    # To see what is not its own.
    "the passwords of the machine": "open('/etc/shadow').read()",
    "the users of the machine": "open('/etc/passwd').read()",
    "a home": "import os; os.listdir('/root')",
    "all homes": "import os; os.listdir('/home')",
    "where keys are kept": "import os; os.listdir('/var/lib/memwarden')",
    "what runs on the machine": "import os; os.listdir('/run')",
    "the worker by its root": "import os; os.listdir('/proc/1/root/etc')",
    "the processes outside": "import os; os.kill(os.getppid() + 1000, 0); raise SystemExit(0)",
    "the memory of the kernel": "open('/proc/kcore', 'rb').read(1)",
    "the devices of the kernel": "import os; os.listdir('/sys')",
    "how the kernel was started": "open('/proc/cmdline').read()",
    "the keys of the session": "open('/proc/keys').read()",
    "the disks of the machine": "open('/proc/partitions').read()",
    "a disk": "import os; os.mknod('/tmp/disk', 0o60600, os.makedev(254, 0))",
    # To reach out.
    "TCP": "import socket; socket.create_connection(('1.1.1.1', 53), 2)",
    "TCP of the machine itself": "import socket; socket.create_connection(('127.0.0.1', 22), 2)",
    "TCP over IPv6": "import socket; socket.create_connection(('::1', 22), 2)",
    "UDP": "import socket; socket.socket(2, 2).sendto(b'x', ('1.1.1.1', 53))",
    "names": "import socket; socket.getaddrinfo('example.org', 80)",
    "the hypervisor": "import socket; socket.socket(40, 1).connect((2, 1024))",
    "raw packets": "import socket; socket.socket(17, 3, 0x300)",
    "the kernel's own sockets": "import socket; socket.socket(16, 3)",
    "the kernel's ciphers": "import socket; socket.socket(38, 5)",
    "the socket of a database": (
        "import socket; socket.socket(1, 1).connect('/run/postgresql/.s.PGSQL.5432')"
    ),
    # To change what is outside.
    "a program of the machine": "open('/usr/bin/python3', 'ab')",
    "a file at the root": "open('/left', 'w')",
    "a file among the devices": "open('/dev/left', 'w')",
    "a file in shared memory": "open('/dev/shm/left', 'w')",
    "its own code": "open('attempt.py', 'w')",
    "a file beside its code": "open('left', 'w')",
    "a setting of the kernel": "open('/proc/sys/kernel/core_pattern', 'w').write('|/tmp/x')",
    "the key for emergencies": "open('/proc/sysrq-trigger', 'w').write('h')",
    # To use up.
    "memory": "x = bytearray(1 << 30)",
    "memory by mapping": "import mmap; mmap.mmap(-1, 1 << 30)",
    "a giant file": "open('/tmp/x', 'wb').write(bytes(1 << 22))",
    "a file with a hole": "open('/tmp/x', 'wb').truncate(1 << 30)",
    "many files": """
        for n in range(10_000):
            open(f'/tmp/{n}', 'w').close()
        """,
    "many large files": """
        for n in range(64):
            open(f'/tmp/{n}', 'wb').write(bytes(1 << 20))
        """,
    "open files": "kept = [open('/dev/null') for _ in range(64)]",
    "a fork bomb": """
        import os, time
        while True:
            if os.fork() == 0:
                time.sleep(60)
        """,
    "threads": """
        import threading
        for _ in range(16):
            threading.Thread(target=threading.Event().wait, args=(60,), daemon=True).start()
        """,
    "more than its limits": """
        import resource
        resource.setrlimit(resource.RLIMIT_NPROC, (4096, 4096))
        """,
    # To become somebody else.
    "root": "import os; os.setuid(0)",
    "another group": "import os; os.setgroups([0])",
    "root by a program": """
        import subprocess
        assert '0\\n' == subprocess.check_output(['/usr/bin/su', '-c', 'id -u'], text=True)
        """,
    "a program of root's own": """
        import os, shutil
        shutil.copy('/usr/bin/id', '/tmp/id')
        os.chown('/tmp/id', 0, 0)
        """,
    "another root": "import os; os.chroot('/tmp')",
    "higher priority": "import os; os.nice(-5)",
}


@pytest.mark.parametrize("attempt", FROM_PYTHON)
def test_nothing_outside_is_seen_reached_changed_or_used_up(attempt: str) -> None:
    """What is not permitted is an error to the code, not a success.

    Proves: V8
    """
    ended = run("print(6 * 7, flush=True)\n" + textwrap.dedent(FROM_PYTHON[attempt]))
    assert (ended.ended, ended.status != 0) == ("exit", True)
    assert ended.output.startswith("42\n")


FROM_SHELL = {
    "mount": "mount -t tmpfs tmpfs /tmp",
    "a mount of what is hidden": "mount --bind /proc/1/root /tmp",
    "an unmount": "umount /usr/local || umount /tmp",
    "a namespace": "unshare --user true",
    "another's namespace": "nsenter --target 1 --user --mount true",
    "a sandbox within": "bwrap --bind / / true",
    "a process of the worker's": "kill -9 -1 && test ! -d /proc/1",
    "what the kernel says": "dmesg",
    "the clock": "date --set=2001-01-01",
    "the name of the machine": "hostname elsewhere || test -n ''",
}


@pytest.mark.parametrize("attempt", FROM_SHELL)
def test_no_program_of_the_machine_helps(attempt: str) -> None:
    """What is there to run has no more rights than the code.

    Proves: V8
    """
    ended = shell("echo $((6 * 7)); " + FROM_SHELL[attempt])
    assert ended.status != 0
    assert ended.output.startswith("42\n")


@pytest.mark.parametrize("name", DENIED)
def test_a_system_call_that_is_denied_does_nothing(name: str, numbers: dict[str, int]) -> None:
    """By its number, since not every one has a function in a library.

    Proves: V8
    """
    code = f"""
        import ctypes
        library = ctypes.CDLL(None, use_errno=True)
        print(library.syscall({numbers[name]}, 0, 0, 0, 0, 0, 0), ctypes.get_errno())
        """
    assert run(code).output == "-1 1\n"


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="another architecture has no such calls")
@pytest.mark.parametrize("way", ["x32", "i386"])
def test_the_filter_is_not_passed_by_another_way_of_calling(way: str) -> None:
    """A socket asked for as programs of 32 bits ask: the process is ended.

    Proves: V8
    """
    # push rbx; socket(AF_INET, SOCK_STREAM, 0) by int 0x80; pop rbx; ret
    machine_code = "53 b867010000 bb02000000 b901000000 31d2 cd80 5b c3"
    code = {
        "x32": "import ctypes; print(ctypes.CDLL(None).syscall(0x40000000 + 41, 2, 1, 0))",
        "i386": f"""
            import ctypes, mmap
            page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
            page.write(bytes.fromhex('{machine_code}'))
            address = ctypes.addressof(ctypes.c_char.from_buffer(page))
            print(ctypes.CFUNCTYPE(ctypes.c_int)(address)())
            """,
    }[way]
    ended = run(code)
    assert (ended.status, ended.output) == (128 + signal.SIGSYS, "")


def test_nothing_is_typed_into_a_terminal() -> None:
    """There is none; and the request itself is denied, also with other bits set in it.

    Proves: V8
    """
    code = """
        import ctypes, os
        library = ctypes.CDLL(None, use_errno=True)
        for terminal in ('/dev/tty', '/dev/ptmx'):
            try:
                print(os.open(terminal, os.O_RDWR | os.O_NOCTTY) >= 0)
            except OSError as error:
                print(error.errno)
        for request in (0x5412, 0x541C, 0x1_0000_5412):
            print(library.syscall(16, 0, ctypes.c_uint64(request), b'x'), ctypes.get_errno())
        """
    lines = run(code).output.splitlines()
    assert lines[0] == "6"  # ENXIO: no controlling terminal
    if os.uname().machine == "x86_64":
        assert lines[2:] == ["-1 1"] * 3


def test_the_worker_is_not_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither its environment, whoever's it is inside, nor what it has open.

    Proves: V8
    """
    monkeypatch.setenv("MEMWARDEN_SECRET_X", "sesame")
    monkeypatch.setenv("PGPASSWORD", "sesame")
    code = """
        import glob, os
        for path in glob.glob('/proc/[0-9]*/environ'):
            try:
                print(open(path).read())
            except PermissionError:
                pass
        print(sorted(os.environ), sorted(os.listdir('/proc/self/fd')))
        """
    secret = os.open(ROOT / "README.md", os.O_RDONLY)
    os.set_inheritable(secret, True)
    try:
        ended = run(code)
    finally:
        os.close(secret)
    assert ended.status == 0
    assert "sesame" not in ended.output
    assert ended.output.splitlines()[-1] == (
        "['HOME', 'LANG', 'PATH', 'PWD'] ['0', '1', '2', '3']"  # 3: the directory that it lists
    )


def test_what_was_installed_by_hand_is_not_seen() -> None:
    """Of /usr the packages of the system are left.

    Proves: V8
    """
    code = "import os; print(os.listdir('/usr/local'), sorted(os.listdir('/')))"
    listed = run(code).output
    assert listed.startswith("[] ")
    assert not {"etc", "home", "root", "run", "srv", "sys", "var"} & set(listed.split("'"))


def test_sockets_of_the_machine_are_out_of_reach(tmp_path: Path) -> None:
    """One with a path is not there, an abstract one belongs to another network.

    Proves: V8
    """
    name = f"memwarden-{uuid.uuid4().hex}"
    path = tmp_path / "socket"
    with (
        socket.socket(socket.AF_UNIX) as abstract,
        socket.socket(socket.AF_UNIX) as named,
    ):
        abstract.bind(f"\0{name}")
        abstract.listen()
        named.bind(str(path))
        named.listen()
        code = f"""
            import socket
            for address in ('\\0{name}', {str(path)!r}):
                try:
                    socket.socket(socket.AF_UNIX).connect(address)
                    print('reached')
                except OSError as error:
                    print(type(error).__name__)
            """
        assert run(code).output.split() == ["ConnectionRefusedError", "FileNotFoundError"]


def test_nobody_outside_is_traced_or_signalled() -> None:
    """Its own process apart, there is bubblewrap's, and no call that reads another's memory.

    Proves: V8
    """
    code = f"""
        import ctypes, os, signal
        library = ctypes.CDLL(None, use_errno=True)
        print(library.ptrace(16, 1, 0, 0), library.ptrace(16, {os.getpid()}, 0, 0))
        try:
            os.kill({os.getpid()}, 0)
            print('there')
        except ProcessLookupError:
            print('not there')
        print(sorted(p for p in os.listdir('/proc') if p.isdigit()).index('1'))
        """
    assert run(code).output.splitlines() == ["-1 -1", "not there", "0"]


@pytest.mark.parametrize(
    ("code", "ended"),
    [
        ("while True: pass", "timeout"),
        ("import time; time.sleep(600)", "timeout"),
        (
            "import sys, time\nsys.stdout.close()\nimport os; os.close(1)\ntime.sleep(600)",
            "timeout",
        ),
        (
            "import signal, time\nfor n in range(1, 65):\n"
            "    try: signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError): pass\n"
            "time.sleep(600)",
            "timeout",
        ),
        ("while True: print('x' * 4096)", "output"),
    ],
    ids=["a loop", "sleep", "silence", "deafness", "output"],
)
def test_what_does_not_end_is_ended(code: str, ended: str) -> None:
    """By its time, or by what it prints.

    Proves: V8
    """
    stopped = run(code, sandbox.Bounds(seconds=2 if ended == "timeout" else 20))
    assert (stopped.ended, stopped.status) == (ended, -1)
    assert len(stopped.printed) <= sandbox.MAX_OUTPUT


@pytest.mark.parametrize("last", ["", "os._exit(0)", "while True: pass"])
def test_no_child_outlives_the_run(last: str) -> None:
    """Also one in a session of its own, that ignores signals, and holds no output.

    Proves: V8
    """
    mark = uuid.uuid4().hex
    code = f"""
        import os, signal, sys, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                os.close(1)
                os.execv('/usr/bin/sh', ['sh', '-c', 'sleep 600; : {mark}'])
            os._exit(0)
        os.wait()
        {last}
        """
    run(code, sandbox.Bounds(seconds=2))
    until_gone(mark)


def until_gone(mark: str) -> None:
    """Wait until no process bears the mark; the kernel ends them, how soon is its own affair."""
    while mark in running():
        pass


def running() -> str:
    """Return the command lines of all processes of the machine."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return "\n".join(found)


def test_the_sandbox_ends_with_its_worker() -> None:
    """A worker that is killed leaves nothing running.

    Proves: V8
    """
    mark = uuid.uuid4().hex
    program = (
        "from memwarden.worker import sandbox\n"
        f"sandbox.run(['/usr/bin/sh', '-c', 'echo; sleep 600; : {mark}'], {{}},"
        " sandbox.Bounds(600))"
    )
    paths = os.pathsep.join(str(ROOT / each) for each in ("python_client", "plpython"))
    worker = subprocess.Popen(
        [sys.executable, "-c", program], env=os.environ | {"PYTHONPATH": paths}
    )
    # Not the command line of what starts it, which stands there before it can end with its worker.
    begun = f"/usr/bin/sh -c echo; sleep 600; : {mark}"
    while not any(line.startswith(begun) for line in running().splitlines()):
        assert worker.poll() is None
    worker.kill()
    worker.wait()
    until_gone(mark)


def test_files_are_there_to_be_read_and_tmp_to_be_written() -> None:
    """That is what a test needs.

    Proves: V8
    """
    files = {
        "attempt.py": b"import helper, os\nopen('/tmp/x', 'w').write(helper.SAID)\n"
        b"print(open('/tmp/x').read(), open('data.txt').read(), os.getcwd(), os.getuid())",
        "helper.py": b"SAID = 'hello'",
        "data.txt": "grüß".encode(),
    }
    assert sandbox.run(PYTHON, files, BOUNDS).output == "hello grüß /test 65534\n"
    assert not list(Path("/tmp").glob("x"))


def test_a_failure_is_told_from_a_signal() -> None:
    """The status of the command, or 128 and the signal.

    Proves: V8
    """
    assert run("raise SystemExit(3)").status == 3
    assert run("import os; os.kill(os.getpid(), 9)").status == 137


@pytest.mark.parametrize(
    ("missing", "message"),
    [("bwrap", "bwrap"), ("interpreter", "/usr/bin/no-such-thing is not installed")],
)
def test_a_machine_that_lacks_something_says_what(
    missing: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is run then, and nothing is taken for a test that failed.

    Proves: V8
    """
    command = PYTHON
    with monkeypatch.context() as patch:
        if missing == "bwrap":
            patch.setenv("PATH", "/nowhere")
        else:
            command = ["/usr/bin/no-such-thing"]
        with pytest.raises(PluginError, match=message):
            sandbox.run(command, {"attempt.py": b""}, BOUNDS)


def as_somebody(tmp_path: Path, prepare: str = "true") -> str:
    """Run a worker's program as a user that is not root; return what it printed."""
    program = tmp_path / "program.py"
    program.write_text(
        "from memwarden.worker import PluginError, sandbox\n"
        "try:\n"
        "    print(sandbox.run(['/usr/bin/id', '-u'], {}, sandbox.Bounds()))\n"
        "except PluginError as error:\n"
        "    print(error)\n"
    )
    outer = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    becoming = f'{prepare} && exec unshare --map-user=1000 --map-group=1000 "$@"'
    paths = os.pathsep.join(str(ROOT / each) for each in ("python_client", "plpython"))
    return subprocess.run(
        [*outer, becoming, "sh", sys.executable, str(program)],
        env=os.environ | {"PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout


def test_a_worker_need_not_be_root(tmp_path: Path) -> None:
    """User namespaces are all that it takes.

    Proves: V8
    """
    assert "status=0, printed=b'65534\\n'" in as_somebody(tmp_path)


def test_a_machine_that_forbids_namespaces_says_so(tmp_path: Path) -> None:
    """What the machine says of it is passed on, and no test is taken for a failed one.

    Proves: V8
    """
    # One more is permitted: that in which the worker is somebody.
    said = as_somebody(tmp_path, "echo 1 > /proc/sys/user/max_user_namespaces")
    assert "are user namespaces permitted here? unshare: unshare failed: No space left" in said
