"""Show what a change does to an installation: compare the catalog of this tree with another one's.

usage: [PG=17|18] make compare [BASE=COMMIT] [TEXT=1]

COMMIT is `main` where none is named. Each tree gets a server of its own, with a fresh store and
with one that each kept release made and this build updated. Compared are functions (signature,
body, settings, rights, owner, comment), views, triggers, policies, types, columns, defaults, row
security and what depends on what: see tests/catalog_snapshot.py. Names of what differs are printed;
with TEXT=1 the lines that differ as well. The exit status is 1 when anything does.
"""

from __future__ import annotations

import argparse
import difflib
import lzma
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from catalog_snapshot import Snapshot, catalog_snapshot, lasting  # noqa: E402

CLUSTER = "builds"

# What hangs on what, by the words that PostgreSQL has for both.
DEPENDENCIES = """
    SELECT DISTINCT pg_describe_object(d.classid, d.objid, d.objsubid)
           || ' on ' || pg_describe_object(d.refclassid, d.refobjid, d.refobjsubid), d.deptype::text
      FROM pg_depend AS d
     WHERE d.objid >= 16384 AND d.deptype IN ('n', 'a', 'e')
       AND pg_describe_object(d.classid, d.objid, d.objsubid) ~ 'memwarden'
       AND pg_describe_object(d.classid, d.objid, d.objsubid) !~ 'pg_toast|_p2\\d{7}'
"""


def server(tree: Path, *command: str) -> str:
    """Run a tree's deploy/server and return what it printed."""
    done = subprocess.run([tree / "deploy/server", *command], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{tree}: deploy/server {' '.join(command)}: {done.stderr}")
    return done.stdout.strip()


def looks(connection: Any) -> Snapshot:
    """Everything that is compared of one database."""
    found = lasting(catalog_snapshot(connection))
    rows = connection.execute(DEPENDENCIES).fetchall()
    return found | {f"dependency {name}": kind for name, kind in rows}


def snapshots(tree: Path) -> Iterator[tuple[str, Snapshot]]:
    """A fresh store of the tree and one from each release, made on a server of the tree's."""
    server(tree, "up", CLUSTER, "--in-memory", "-c", "fsync=off")
    try:
        server(tree, "install")
        for release in [None, *sorted((tree / "migrations/released").glob("memwarden--*.sql.xz"))]:
            name = "fresh" if release is None else release.name.split("--")[1][: -len(".sql.xz")]
            with psycopg.connect(server(tree, "dsn", CLUSTER), autocommit=True) as postgres:
                postgres.execute(f'DROP DATABASE IF EXISTS "{name}"')
                postgres.execute(f'CREATE DATABASE "{name}"')
            with psycopg.connect(server(tree, "dsn", CLUSTER, name), autocommit=True) as connection:
                if release is not None:
                    make(connection, Path(server(tree, "sharedir")), release, name)
                    connection.execute("ALTER EXTENSION memwarden UPDATE")
                else:
                    connection.execute("CREATE EXTENSION memwarden CASCADE")
                connection.execute("SELECT FROM memwarden.setup()")
                yield name, looks(connection)
    finally:
        server(tree, "drop", CLUSTER)


def make(connection: Any, folder: Path, release: Path, version: str) -> None:
    """Install a kept release as its users did."""
    script = folder / release.name.removesuffix(".xz")
    script.write_bytes(lzma.decompress(release.read_bytes()))
    try:
        connection.execute(f"CREATE EXTENSION memwarden VERSION '{version}' CASCADE")
        connection.execute("SELECT FROM memwarden.setup()")
    finally:
        script.unlink()


@contextmanager
def other_tree(commit: str) -> Iterator[Path]:
    """A worktree of the commit; in the end nothing of it is left."""
    with tempfile.TemporaryDirectory(prefix="memwarden-builds-") as folder:
        tree = Path(folder) / Path(folder).name  # git knows a worktree by its last name
        git: list[str | Path] = ["git", "-C", ROOT, "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", tree, commit], check=True)
        try:
            yield tree
        finally:
            subprocess.run([tree / "deploy/server", "clean"], check=False, capture_output=True)
            subprocess.run([*git, "remove", "--force", tree], check=True)


def report(before: Snapshot, after: Snapshot, *, text: bool) -> int:
    """Print what differs, and return how many."""
    differing = [
        name for name in sorted(before.keys() | after.keys()) if before.get(name) != after.get(name)
    ]
    for name in differing:
        old, new = before.get(name), after.get(name)
        print(f"  {'new' if old is None else 'gone' if new is None else 'other'}: {name}")
        if text and old is not None and new is not None:
            lines = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=1)
            print("\n".join(f"    {line}" for line in list(lines)[2:]))
    return len(differing)


def main() -> None:
    """Compare this tree with the commit's."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("commit", nargs="?", default="main")
    parser.add_argument("--text", action="store_true", help="print the lines that differ")
    arguments = parser.parse_args()
    with other_tree(arguments.commit) as tree:
        before = dict(snapshots(tree))
    count = 0
    for name, after in snapshots(ROOT):
        differing = report(before.get(name, {}), after, text=arguments.text)
        print(f"{name}: {len(after)} objects, {differing} differ")
        count += differing
    raise SystemExit(bool(count))


if __name__ == "__main__":
    main()
