# ruff: noqa: E501 - a pattern is easier to read whole
"""Shipped rules for the numbers by which states know people, with their check digits.

A number whose shape and check digits are rare in other text stands alone; any other must be named.
"""

from __future__ import annotations

from typing import Any

from ..decoding.decode import LONG_TOKEN
from ..personal.numbers import OTHER_NUMBERS


def _number(
    name: str,
    pattern: str,
    examples: list[str],
    words: list[str],
    alone: bool = False,
    wrong: str | None = None,
) -> dict[str, Any]:
    """A rule for the numbers of one module of python-stdnum, named in the text unless ``alone``."""
    first, second, third = examples
    wrong = wrong or _with_another_end(first)
    call = f"{words[0]}: " if words else ""
    return {
        "id": f"pii.id.{name.replace('_', '')}",
        "version": 1,
        "kind": "pii.national_id",
        "level": "high",
        "action": "block",
        "score": 0.85 if alone else 0.9,
        "pattern": rf"\b({pattern})\b",
        "validator": f"stdnum:{name}",
        **(_alone(pattern) if alone else _by_name(words)),
        "tests": {
            "positive": [
                f"{call}{first}",
                f"{call}{second}.",
                f"On file ({call}{third}) since May",
            ],
            "negative": [
                f"{call}{wrong}",
                f"{call}X{second}9",
                f"Invoice number {third}" if alone else f"Seen near {third} of them",
            ],
        },
    }


def _with_another_end(number: str) -> str:
    end = number[-1]
    return number[:-1] + (str((int(end) + 1) % 10) if end.isdigit() else "J" if end != "J" else "K")


def _alone(pattern: str) -> dict[str, Any]:
    """Members of a rule for numbers that nothing needs to name."""
    counted = "A-Z" not in pattern
    return {
        "not_context": list(OTHER_NUMBERS),
        "prefilter_pattern": pattern if counted else LONG_TOKEN,
    }


def _by_name(words: list[str]) -> dict[str, Any]:
    """Members of a rule for numbers that one of the words must name."""
    return {
        "context": words,
        "prefilter": [word.rstrip("*") for word in words],
        "prefilter_pattern": "[0-9]{2}[ .\\-/]?[0-9]{2}",
    }


_D = "[0-9]"
_DATE = r"[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])"
_DAY = r"(?:0[1-9]|[12][0-9]|3[01])(?:0[1-9]|1[0-2])[0-9]{2}"

NATIONAL_RULES: list[dict[str, Any]] = [
    # strong by shape
    _number(
        "br.cpf",
        rf"{_D}{{3}}\.{_D}{{3}}\.{_D}{{3}}-{_D}{{2}}",
        ["450.749.528-83", "360.848.529-55", "511.311.544-44"],
        [],
        True,
    ),
    _number(
        "fr.nir",
        rf"[12] ?{_D}{{2}} ?(?:0[1-9]|1[0-2]) ?(?:{_D}{{2}}|2[AB]) ?{_D}{{3}} ?{_D}{{3}} ?{_D}{{2}}",
        ["2 61 03 75 310 161 23", "252087535704427", "1 89 10 75 663 452 57"],
        [],
        True,
    ),
    _number(
        "be.nn",
        rf"{_D}{{2}}\.{_D}{{2}}\.{_D}{{2}}-{_D}{{3}}\.{_D}{{2}}",
        ["66.08.05-131.94", "71.11.26-962.20", "54.08.18-371.85"],
        [],
        True,
    ),
    _number(
        "fi.hetu",
        rf"{_DAY}[-+A]{_D}{{3}}[0-9A-FHJ-NPR-Y]",
        ["080979-899T", "190495-5934", "240257-669C"],
        [],
        True,
    ),
    _number(
        "se.personnummer",
        rf"(?:19|20)?{_DATE}[-+]{_D}{{4}}",
        ["500820-9222", "741022-3403", "991110-9560"],
        [],
        True,
    ),
    _number(
        "ch.ssn",
        rf"756\.?{_D}{{4}}\.?{_D}{{4}}\.?{_D}{{2}}",
        ["756.3107.9077.24", "756.6015.9922.71", "7560841880344"],
        [],
        True,
    ),
    _number(
        "cn.ric",
        rf"[1-8]{_D}{{5}}(?:19|20){_DATE}{_D}{{3}}[0-9Xx]",
        ["11010119540320245X", "110101199004283713", "110101197306053690"],
        [],
        True,
    ),
    _number(
        "kr.rrn",
        rf"{_DATE}-[1-4]{_D}{{6}}",
        ["960628-1116351", "730408-1526754", "751210-1676794"],
        [],
        True,
    ),
    _number(
        "mx.curp",
        rf"[A-Z]{{4}}{_DATE}[HM][A-Z]{{5}}[0-9A-Z]{_D}",
        ["BIDX670101MDFGBF07", "ROFJ830504HNLDNH03", "MIOL501009MDFMGC03"],
        [],
        True,
    ),
    _number(
        "it.codicefiscale",
        rf"[A-Z]{{6}}{_D}{{2}}[A-EHLMPRST]{_D}{{2}}[A-Z]{_D}{{3}}[A-Z]",
        ["RVYQBB68P20H501P", "RGFSID81H14H501E", "RASIFT79B27H501V"],
        [],
        True,
    ),
    _number(
        "th.pin",
        rf"{_D}-{_D}{{4}}-{_D}{{5}}-{_D}{{2}}-{_D}",
        ["4-7520-89917-17-9", "3-7988-89051-21-1", "1-7446-51385-86-1"],
        [],
        True,
    ),
    _number(
        "cl.rut",
        rf"{_D}{{1,2}}\.{_D}{{3}}\.{_D}{{3}}-[0-9Kk]",
        ["45.161.870-9", "65.545.027-0", "38.794.207-6"],
        [],
        True,
    ),
    _number(
        "ar.cuit",
        rf"(?:20|2[3-7]|30|33|34)-{_D}{{8}}-{_D}",
        ["20-46059675-1", "20-66929434-5", "20-97726067-2"],
        [],
        True,
    ),
    _number(
        "cz.rc",
        rf"{_D}{{2}}[0-8]{_D}[0-3]{_D}/{_D}{{4}}",
        ["841023/8496", "681227/2357", "850117/5573"],
        [],
        True,
    ),
    # by name
    _number(
        "gb.nhs",
        rf"{_D}{{3}}[ -]?{_D}{{3}}[ -]?{_D}{{4}}",
        ["817 238 0836", "047 234 5931", "5275361386"],
        ["nhs", "nhs number", "nhs no"],
    ),
    _number(
        "es.dni",
        rf"{_D}{{8}}[- ]?[A-Za-z]",
        ["56812610B", "09577745-Q", "13881314D"],
        ["dni", "nif", "documento", "identidad"],
    ),
    _number(
        "es.nie",
        rf"[XYZxyz][- ]?{_D}{{7}}[- ]?[A-Za-z]",
        ["Z3754751Y", "Y4650315M", "Z5902551C"],
        ["nie", "extranjero", "residencia"],
    ),
    _number(
        "de.idnr",
        rf"{_D}{{2}} ?{_D}{{3}} ?{_D}{{3}} ?{_D}{{3}}",
        ["85127498362", "53 095 246 581", "42176490358"],
        [
            "steuer-id",
            "steueridentifikationsnummer",
            "steuer-identifikationsnummer",
            "idnr",
            "steuernummer",
            "tax id",
        ],
    ),
    _number(
        "nl.bsn",
        rf"{_D}{{9}}",
        ["328107384", "033172596", "481703202"],
        ["bsn", "burgerservicenummer", "sofinummer"],
    ),
    _number("pl.pesel", rf"{_D}{{11}}", ["51030853696", "79052669794", "59092319992"], ["pesel"]),
    _number(
        "dk.cpr",
        rf"{_DAY}-?{_D}{{4}}",
        ["100694-0310", "121157-0963", "0507912877"],
        ["cpr", "cpr-nummer", "personnummer"],
        wrong="100694-031",
    ),
    _number(
        "no.fodselsnummer",
        rf"{_DAY} ?{_D}{{5}}",
        ["10108672949", "210272 63043", "14058931439"],
        ["f\u00f8dselsnummer", "fodselsnummer", "personnummer", "national id"],
    ),
    _number(
        "at.vnr",
        rf"{_D}{{4}} ?{_DAY}",
        ["6857160975", "8778 041168", "1448230693"],
        ["sozialversicherung*", "svnr", "sv-nummer", "versicherungsnummer"],
    ),
    _number(
        "pt.nif",
        rf"[1-9]{_D}{{2}} ?{_D}{{3}} ?{_D}{{3}}",
        ["872823229", "587 304 243", "592561194"],
        ["nif", "contribuinte"],
    ),
    _number(
        "ie.pps",
        rf"{_D}{{7}}[A-Wa-w][A-IWa-iw]?",
        ["2059484A", "8379639P", "7436718R"],
        ["pps", "ppsn", "pps number"],
    ),
    _number(
        "ca.sin",
        rf"{_D}{{3}}[- ]?{_D}{{3}}[- ]?{_D}{{3}}",
        ["705-474-229", "968 135 251", "285911590"],
        ["sin", "social insurance*"],
    ),
    _number(
        "au.tfn",
        rf"{_D}{{3}} ?{_D}{{3}} ?{_D}{{3}}",
        ["410152734", "455 823 146", "148529883"],
        ["tfn", "tax file number"],
    ),
    _number(
        "in_.aadhaar",
        rf"[2-9]{_D}{{3}}[ -]?{_D}{{4}}[ -]?{_D}{{4}}",
        ["4104 0541 5723", "6130-1213-4127", "312019125745"],
        ["aadhaar", "aadhar", "uidai"],
    ),
    _number(
        "in_.pan",
        rf"[A-Za-z]{{5}}{_D}{{4}}[A-Za-z]",
        ["AKNPG6373H", "SCKPB8632O", "KMUPF2263K"],
        ["pan", "pan card", "pan number", "permanent account number"],
        wrong="AKNXG6373H",
    ),
    _number(
        "za.idnr",
        rf"{_DATE} ?{_D}{{4}} ?{_D}{{3}}",
        ["7008054060088", "751025 9867 084", "8706051483083"],
        ["id number", "identity number", "sa id", "rsa id", "identity no", "south african id"],
    ),
    _number(
        "tr.tckimlik",
        rf"[1-9]{_D}{{10}}",
        ["67810845504", "89274127460", "42652451458"],
        ["tc kimlik", "tckn", "kimlik no", "kimlik numaras*", "t.c. kimlik"],
    ),
    _number(
        "il.idnr",
        rf"{_D}{{9}}",
        ["226288405", "404215279", "121774939"],
        ["teudat zehut", "israeli id", "\u05ea\u05e2\u05d5\u05d3\u05ea \u05d6\u05d4\u05d5\u05ea"],
    ),
    _number(
        "ro.cnp",
        rf"[1-8]{_DATE}{_D}{{6}}",
        ["1810817404246", "1500315402313", "2741225406708"],
        ["cnp", "cod numeric personal"],
    ),
    _number(
        "bg.egn",
        rf"{_D}{{10}}",
        ["5908071790", "9103141701", "7204197367"],
        ["egn", "\u0435\u0433\u043d"],
    ),
    _number("hr.oib", rf"{_D}{{11}}", ["39491576803", "02446353388", "81258283688"], ["oib"]),
    _number(
        "ee.ik",
        rf"[1-6]{_DATE}{_D}{{4}}",
        ["49709083853", "38803101268", "48904145075"],
        ["isikukood", "personal code"],
    ),
    _number(
        "lt.asmens",
        rf"[3-6]{_DATE}{_D}{{4}}",
        ["48602119339", "48505040357", "38505088091"],
        ["asmens kodas", "personal code"],
    ),
    _number(
        "gr.amka",
        rf"{_DAY}{_D}{{5}}",
        ["17076312002", "20086014030", "19035061571"],
        ["amka", "\u03b1\u03bc\u03ba\u03b1"],
    ),
    _number(
        "es.ccc",
        rf"{_D}{{4}}[ -]?{_D}{{4}}[ -]?{_D}{{2}}[ -]?{_D}{{10}}",
        ["94797377103375810525", "5965 0761 81 2000926391", "94561633013571602226"],
        ["ccc", "cuenta", "cuenta bancaria"],
    ),
]
