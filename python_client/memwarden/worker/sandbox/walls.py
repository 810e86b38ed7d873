"""What code in the sandbox sees and may use, as arguments of unshare, bubblewrap and prlimit."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

NOBODY = 65534
# Where the files of a run lie; the code can read them, and write below /tmp alone.
FILES = "/test"
_MIB = 1024 * 1024
# Empty files cost memory too, so their number is bounded: bubblewrap itself has no option for it.
_SCRATCH = "size=16m,nr_inodes=4096,mode=0755"
# What the sandbox is made with, beside bubblewrap itself.
PROGRAMS = tuple(f"/usr/bin/{name}" for name in ("choom", "mount", "prlimit", "sh", "unshare"))
# What somebody put onto the machine by hand is nobody else's business.
_HIDDEN = ("/usr/local", "/usr/src")
# What the kernel tells of the machine as a whole.
_TELLING = ("cmdline", "diskstats", "kallsyms", "key-users", "keys", "modules", "partitions")


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a run may use.

    `seconds` of the clock, and of the processor for each process; `memory_mb` for each process, of
    which there are at most eight with bubblewrap's own.
    """

    seconds: float = 10
    memory_mb: int = 256


def scratch() -> list[str]:
    """Return the command that runs bubblewrap where /tmp is empty, small, and nobody else's."""
    mount = f'/usr/bin/mount -t tmpfs -o {_SCRATCH} tmpfs /tmp && exec "$@"'
    return [
        *("/usr/bin/unshare", "--user", "--map-root-user", "--mount", "--"),
        *("/usr/bin/sh", "-c", mount, "sh"),
    ]


def walls(files: Mapping[str, int], filter_fd: int) -> list[str]:
    """Return how bubblewrap is to wall code in.

    `files`: descriptors to read what lies in `FILES` from, by plain name. `filter_fd`: one to read
    the filter of system calls from.
    """
    return [
        *("--unshare-all", "--unshare-user", "--disable-userns"),
        *("--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"),
        *("--uid", str(NOBODY), "--gid", str(NOBODY), "--hostname", "sandbox"),
        *("--seccomp", str(filter_fd)),
        *("--ro-bind", "/usr", "/usr"),
        *[word for name in ("bin", "lib", "lib32", "lib64", "sbin") for word in _as_outside(name)],
        *[word for path in _HIDDEN for word in _hidden(path)],
        *("--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"),
        *[word for name in _TELLING for word in _silenced(Path("/proc") / name)],
        *("--bind", "/tmp", "/tmp", "--dir", FILES),
        *[word for name, descriptor in files.items() for word in _file(name, descriptor)],
        *("--setenv", "PATH", "/usr/bin:/bin", "--setenv", "HOME", "/tmp"),
        *("--setenv", "LANG", "C.UTF-8"),
        *("--remount-ro", "/", "--chdir", FILES),
    ]


def _as_outside(name: str) -> list[str]:
    path = Path("/") / name
    if path.is_symlink():
        return ["--symlink", os.readlink(path), str(path)]
    return ["--ro-bind", str(path), str(path)] if path.is_dir() else []


def _hidden(path: str) -> list[str]:
    return ["--tmpfs", path, "--remount-ro", path] if Path(path).is_dir() else []


def _silenced(path: Path) -> list[str]:
    # Bound so, the device can be opened by nobody.
    return ["--ro-bind", "/dev/null", str(path)] if path.exists() else []


def _file(name: str, descriptor: int) -> list[str]:
    return ["--perms", "0444", "--ro-bind-data", str(descriptor), f"{FILES}/{name}"]


def limits(bounds: Bounds) -> list[str]:
    """Return the command that runs another within the bounds."""
    return [
        "/usr/bin/prlimit",
        f"--cpu={max(1, int(bounds.seconds))}",
        f"--as={bounds.memory_mb * _MIB}",
        "--nproc=8",
        f"--fsize={_MIB}",
        "--nofile=32",
        # Not 0: a program of the machine that gathers crashes would still be handed this one.
        "--core=1",
        "--",
        # Where memory runs out, the kernel ends this first, and neither the worker nor a database.
        *("/usr/bin/choom", "-n", "1000", "--"),
    ]
