"""The archive for PGXN builds from itself, and its META.json says what the control file says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]

from server_checkout import REPOSITORY
from test_build import build, version

META = json.loads((REPOSITORY / "META.json").read_text(encoding="utf-8"))
# What the PGXN Meta Spec 1.0.0 asks for, of what ours uses.
NUMBER = {"type": "string", "pattern": r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$"}
NEEDS = {"type": "object", "additionalProperties": {"anyOf": [{"const": 0}, NUMBER]}}
TEXT = {"type": "string", "minLength": 1}
PHASE = {
    "type": "object",
    "minProperties": 1,
    "properties": dict.fromkeys(("requires", "recommends", "suggests", "conflicts"), NEEDS),
    "additionalProperties": False,
}
PHASES = ("configure", "build", "test", "runtime", "develop")
SPEC = {
    "type": "object",
    "required": [
        *("name", "version", "abstract", "maintainer", "license", "provides", "meta-spec"),
    ],
    "properties": {
        "name": {"type": "string", "pattern": r"^[^\s/\\\x00-\x1f]{2,}$"},
        "version": NUMBER,
        "abstract": TEXT,
        "description": TEXT,
        "maintainer": {"type": "array", "minItems": 1, "items": TEXT},
        "license": {"const": "postgresql"},
        "release_status": {"enum": ["stable", "testing", "unstable"]},
        "provides": {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": {
                "type": "object",
                "required": ["file", "version"],
                "properties": {"file": TEXT, "docfile": TEXT, "abstract": TEXT, "version": NUMBER},
                "additionalProperties": False,
            },
        },
        "prereqs": {
            "type": "object",
            "properties": dict.fromkeys(PHASES, PHASE),
            "additionalProperties": False,
        },
        "tags": {"type": "array", "items": {**TEXT, "maxLength": 255}, "uniqueItems": True},
        "meta-spec": {
            "type": "object",
            "required": ["version"],
            "properties": {
                "version": {"const": "1.0.0"},
                "url": {"const": "https://pgxn.org/meta/spec.txt"},
            },
        },
    },
    "additionalProperties": False,
}


def test_the_metadata_are_valid_and_agree_with_the_control_file() -> None:
    """Its version, and the extensions that it needs."""
    jsonschema.Draft202012Validator(SPEC).validate(META)
    [provided] = META["provides"].values()
    assert META["version"] == provided["version"] == version()
    assert META["name"] == "memwarden"
    control = (REPOSITORY / provided["file"]).read_text()
    assert (REPOSITORY / provided["docfile"]).exists()
    required = re.search(r"^requires = '(.+)'$", control, re.MULTILINE)
    assert required
    runtime = META["prereqs"]["runtime"]["requires"]
    assert set(required[1].split(", ")) == set(runtime) - {"PostgreSQL", "pg_partman"}


def test_every_other_version_is_that_of_the_control_file() -> None:
    """The Debian package's, and the first entry in the list of changes."""
    changes = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## {version()}" in changes[: changes.index("\n### ")]
    debian = (REPOSITORY / "packaging/debian/changelog").read_text(encoding="utf-8")
    assert re.match(rf"memwarden \({re.escape(version())}-\d+\) ", debian)


def test_the_debian_package_needs_what_the_server_needs() -> None:
    """Its dependencies are the list that the image and the root file system are made from."""
    control = (REPOSITORY / "packaging/debian/control").read_text(encoding="utf-8")
    fields = re.findall(r"^(?:Depends|Recommends): ((?:.*\n)(?: .*\n)*)", control, re.MULTILINE)
    needed = {name.strip() for field in fields for name in field.split(",")}
    lines = (REPOSITORY / "deploy/packages.txt").read_text(encoding="utf-8").splitlines()
    words = [line.replace("@PG@", "17").split() for line in lines if not line.startswith("#")]
    server = {word[0] for word in words if len(word) == 1}
    assert needed - {"${misc:Depends}"} == server - {"make"}


def test_the_archive_builds_the_same_script_from_itself(tmp_path: Path) -> None:
    """`make` in the unpacked folder needs nothing else; two archives have the same bytes."""
    tool: list[str | Path] = [sys.executable, REPOSITORY / "tools/make_dist.py", "--out"]
    archives = []
    for name in ("first", "second"):
        ran = subprocess.run(
            [*tool, tmp_path / name], check=True, stdout=subprocess.PIPE, text=True
        )
        archives.append(Path(ran.stdout.strip()))
    assert archives[0].name == f"memwarden-{version()}.zip"
    assert archives[0].read_bytes() == archives[1].read_bytes()
    with zipfile.ZipFile(archives[0]) as archive:
        assert not [name for name in archive.namelist() if "/deploy/secrets/" in name]
        archive.extractall(tmp_path)
    unpacked = tmp_path / f"memwarden-{version()}"
    assert json.loads((unpacked / "META.json").read_text(encoding="utf-8")) == META
    subprocess.run(["make", "--silent", "all"], cwd=unpacked, check=True)
    script = unpacked / f"build/memwarden--{version()}.sql"
    assert script.read_text(encoding="utf-8") == build(REPOSITORY, tmp_path / "tree")
