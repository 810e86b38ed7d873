"""A small file that stands for a large one does not take all memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memwarden.errors import InvalidArgument
from memwarden.transfer import sources
from memwarden.transfer.records import MOST_CHARACTERS, Record, Target, Unreadable
from memwarden.transfer.sources import Format, opened

MEMORY = """
import re, sys
from pathlib import Path
from memwarden.transfer.records import Target
from memwarden.transfer.sources import Format, opened
_, records = opened(Format.PARQUET, sys.argv[1], Target(), None)
print(sum(1 for each in records if type(each).__name__ == "Unreadable"))
# Its own peak: ru_maxrss begins with that of the process that started it.
print(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
"""


def parquet() -> Any:
    """Return pyarrow with its module for Parquet."""
    pytest.importorskip("pyarrow", reason="the extra memwarden[parquet] is not installed")
    import pyarrow  # type: ignore[import-untyped]
    import pyarrow.parquet  # type: ignore[import-untyped]

    return pyarrow


def written(file: Path, columns: dict[str, Any], **options: Any) -> Path:
    """Write a Parquet file of these columns, as small as it can be."""
    made = parquet()
    made.parquet.write_table(made.table(columns), file, compression="zstd", **options)
    return file


def test_a_value_that_is_repeated_is_not_held_a_thousand_times(tmp_path: Path) -> None:
    """10 kB stand for 4 GB; each row is refused alone, in some hundred MB.

    Proves: Z11 (import)
    """
    made = parquet()
    words = made.array(["x" * (4 << 20)])
    column = made.DictionaryArray.from_arrays(made.array([0] * 1000, made.int32()), words)
    file = written(
        tmp_path / "bomb.parquet", {"content": column}, dictionary_pagesize_limit=1 << 26
    )
    assert file.stat().st_size < 20_000
    ran = subprocess.run(
        [sys.executable, "-c", MEMORY, file],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    refused, kilobytes = map(int, ran.stdout.split())
    assert refused == 1000
    assert kilobytes < 600_000


def test_what_a_file_declares_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows, bytes of a row group, values of a list; and the error says which.

    Proves: Z11 (import)
    """
    made = parquet()
    from memwarden.transfer import parquet as reader

    huge = written(tmp_path / "huge.parquet", {"content": ["x" * (3 << 20)]})
    assert huge.stat().st_size < 100_000
    lists = made.array([[None] * 5_000], made.list_(made.int64()))
    long = written(tmp_path / "long.parquet", {"content": lists})
    assert long.stat().st_size < 100_000
    many = written(tmp_path / "many.parquet", {"content": ["x"] * 11})
    monkeypatch.setattr(reader, "MOST_ROWS", 10)
    monkeypatch.setattr(reader, "MOST_IN_A_GROUP", 1 << 20)
    monkeypatch.setattr(reader, "MOST_IN_LISTS", 1000)
    for file, what in ((huge, "row group"), (long, "lists of 5,000 "), (many, "11 rows")):
        with pytest.raises(InvalidArgument, match=what):
            opened(Format.PARQUET, str(file), Target(), None)
    (tmp_path / "none.parquet").write_bytes(b"PAR1" + b"x" * 100 + b"PAR1")
    with pytest.raises(InvalidArgument, match="no Parquet file"):
        opened(Format.PARQUET, str(tmp_path / "none.parquet"), Target(), None)


def test_what_is_read_counts_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that holds more than it declares ends the import with an error.

    Proves: Z11 (import)
    """
    parquet()
    from memwarden.transfer import parquet as reader

    file = written(tmp_path / "lies.parquet", {"content": ["x" * 2000] * 100})
    _, records = opened(Format.PARQUET, str(file), Target(), None)
    assert sum(isinstance(each, Record) for each in records) == 100
    monkeypatch.setattr(reader, "_rows_at_once", lambda *_: 100)
    monkeypatch.setattr(reader, "MOST_IN_A_BATCH", 50_000)
    _, records = opened(Format.PARQUET, str(file), Target(), None)
    with pytest.raises(InvalidArgument, match="holds"):
        list(records)


def test_a_line_without_end_is_refused_and_the_others_are_read(tmp_path: Path) -> None:
    """It is skipped in pieces, and counts as one record.

    Proves: Z11 (import)
    """
    file = tmp_path / "lines.jsonl"
    short = json.dumps({"content": "tea"})
    just = json.dumps("x" * (MOST_CHARACTERS - 3)) + "\n"
    assert len(just) == MOST_CHARACTERS
    file.write_text(f"{short}\n\n{'x' * 3 * MOST_CHARACTERS}\n{just}{short}")
    total, records = opened(Format.JSONL, str(file), Target(), None)
    found = list(records)
    assert total == len(found) == 4
    assert [isinstance(each, Unreadable) for each in found] == [False, True, False, False]
    assert [each.place for each in found] == [f"request {n}" for n in range(1, 5)]


@pytest.mark.parametrize("form", [Format.LETTA, Format.ZEP])
def test_a_document_that_is_read_whole_has_a_bound(
    form: Format, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names it, and what to do.

    Proves: Z11 (import)
    """
    file = tmp_path / "all.json"
    file.write_text("[" + " " * 100 + "]")
    assert opened(form, str(file), Target(), None)[0] == 0
    monkeypatch.setattr(sources, "MOST_OF_A_FILE", 50)
    with pytest.raises(InvalidArgument, match="more than 50 characters"):
        opened(form, str(file), Target(), None)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_text_of_windows_is_read(tmp_path: Path, encoding: str, end: str) -> None:
    """Whatever mark it begins with, and however its lines end; no record is lost to it.

    Proves: Z11 (import)
    """
    mark = "\ufeff" if encoding in ("utf-16-le", "utf-16-be") else ""
    said = [{"content": "Zoë likes tea"}, {"content": "Ana likes \U0001f375"}]
    lines = tmp_path / "export.jsonl"
    text = mark + "".join(json.dumps(each, ensure_ascii=False) + end for each in said)
    lines.write_bytes(text.encode(encoding))
    count, records = opened(Format.JSONL, str(lines), Target(), None)
    read = list(records)
    assert count == len(read) == 2
    assert [each.request["content"] for each in read if isinstance(each, Record)] == [
        each["content"] for each in said
    ]
