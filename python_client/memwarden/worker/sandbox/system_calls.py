"""The system calls that code in the sandbox is denied.

Namespaces do not cover all that a kernel offers: sockets to the machine's hypervisor are of no
network namespace, the keys of a session are read by whoever it is that runs in it, and shared
memory of System V counts towards no limit of a process. libseccomp makes the filter; it ends a
process that calls in the way of another architecture.
"""

from __future__ import annotations

import ctypes
import errno
import socket
import termios

from memwarden.worker.plugin import PluginError

_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000
_NOT_EQUAL, _MASKED_EQUAL = 1, 7
_UNKNOWN = -1

DENIED = (
    # Keys of the session that the worker runs in.
    *("add_key", "keyctl", "request_key"),
    # Memory that no limit of a process counts.
    *("memfd_create", "mq_open", "msgget", "semget", "shmget"),
    # What the kernel tells of the machine, and files by other ways than their paths.
    *("fanotify_init", "name_to_handle_at", "open_by_handle_at", "syslog"),
    # Other processes.
    *("kcmp", "pidfd_getfd", "process_vm_readv", "process_vm_writev", "ptrace"),
    # Mounts and namespaces.
    *("chroot", "fsconfig", "fsmount", "fsopen", "fspick", "mount", "mount_setattr", "move_mount"),
    *("open_tree", "pivot_root", "setns", "umount2", "unshare"),
    # Wide doors into the kernel that no test of a procedure needs.
    *("bpf", "io_uring_enter", "io_uring_register", "io_uring_setup", "perf_event_open"),
    "userfaultfd",
)
# CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET.
_NEW_NAMESPACES = tuple(1 << bit for bit in (17, 25, 26, 27, 28, 29, 30))
# What types into a terminal.
_TYPING = (termios.TIOCSTI, termios.TIOCLINUX)


class _Comparison(ctypes.Structure):
    """struct scmp_arg_cmp."""

    _fields_ = (
        ("arg", ctypes.c_uint),
        ("op", ctypes.c_int),
        ("datum_a", ctypes.c_uint64),
        ("datum_b", ctypes.c_uint64),
    )


def write_filter(descriptor: int) -> None:
    """Write the filter as bubblewrap reads it.

    Raises:
        PluginError: libseccomp is missing, or too old to know what is to be denied.
    """
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        raise PluginError("libseccomp (libseccomp2) is not installed on this worker") from None
    library.seccomp_init.restype = ctypes.c_void_p
    made = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(_ALLOW)))
    if not made:
        raise PluginError("libseccomp makes no filter on this machine")

    def deny(name: str, *comparison: int, error: int = errno.EPERM) -> None:
        number = library.seccomp_syscall_resolve_name(name.encode())
        if number == _UNKNOWN:
            raise PluginError(f"libseccomp on this worker is too old: it does not know {name}")
        conditions = (_Comparison * 1)(_Comparison(*comparison)) if comparison else None
        status = library.seccomp_rule_add_array(
            made, ctypes.c_uint32(_ERRNO | error), number, len(conditions or ()), conditions
        )
        if status:
            raise PluginError(f"libseccomp does not take the rule for {name}")

    try:
        for name in DENIED:
            deny(name)
        # Its flags lie where no filter looks; libraries fall back on clone.
        deny("clone3", error=errno.ENOSYS)
        for flag in _NEW_NAMESPACES:
            deny("clone", 0, _MASKED_EQUAL, flag, flag)
        for request in _TYPING:
            deny("ioctl", 1, _MASKED_EQUAL, 0xFFFFFFFF, request)
        deny("socket", 0, _NOT_EQUAL, socket.AF_UNIX)
        if library.seccomp_export_bpf(made, descriptor):
            raise PluginError("libseccomp does not write its filter")
    finally:
        library.seccomp_release(made)
