"""Pairs of statements that differ in a code, a number, a version or a name, and in nothing else."""

from __future__ import annotations

from itertools import product

_CODES = """
Order #1001|Order #1002
Order 1001|Order 1002
Invoice A-100|Invoice A-101
Invoice 2024-17|Invoice 2024-18
Locker B7|Locker B9
Gate C12|Gate C21
Build v2|Build v3
Release 1.4.2|Release 1.4.3
Version 2.0-rc1|Version 2.0-rc2
Flight LH454|Flight LH455
Flight BA 117|Flight BA 178
Account DE11370400440532013000|Account DE11370400440532013001
Account GB11NWBK60161331926819|Account GB11NWBK60161331926810
Ticket OPS-311|Ticket OPS-313
Case 24/017|Case 24/018
Batch 07:A|Batch 07:B
Part XJ-9000-B|Part XJ-9000-C
Plate B-MW 1234|Plate B-MW 1243
Node db-01|Node db-02
Host 10.0.0.7|Host 10.0.0.8
Commit 9f3c1ab|Commit 9f3c1ac
Room Jupiter|Room Saturn
Room 4.12|Room 4.13
Meeting Room Apollo|Meeting Room Phoebus
Petra|Klaus
Petra Lang|Petra Kurz
Jack|John
Rose Hill|Rose Bank
Mr Stone|Mr Rock
Olympus Ltd|Parnassus Ltd
Form 27b/6|Form 27b/7
Bus M29|Bus M41
Model S|Model X
Plan B|Plan C
Type II|Type III
"""
_TOLD = """
{} was shipped.
{} is ready for the audit.
{} arrived late on Friday.
The auditors looked at {} today.
Please ask the desk about {}.
{} has been checked twice.
Someone left a note for {}.
{} wurde heute geliefert.
{} est prêt pour demain.
{} llegó ayer por la tarde.
"""


def pairs() -> list[tuple[str, str]]:
    """The later statement of each pair after the earlier one."""
    return [
        (told.format(one), told.format(other))
        for (one, other), told in product(
            (line.split("|") for line in _CODES.strip().split("\n")), _TOLD.strip().split("\n")
        )
    ]
