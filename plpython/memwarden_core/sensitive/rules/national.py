# ruff: noqa: E501 - a pattern is easier to read whole
"""Shipped rules for the numbers by which states know people, with their check digits.

A number whose shape and check digits are rare in other text stands alone; any other must be named.
"""

from __future__ import annotations

import re
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
    check: str | None = None,
) -> dict[str, Any]:
    """A rule for the numbers that ``check`` knows, by default a module of python-stdnum.

    Unless ``alone``, one of the words must name the number in the text.
    """
    first, second, third = examples
    wrong = wrong or _with_another_end(first)
    call = f"{words[0].strip('*')}: " if words else ""
    return {
        "id": f"pii.id.{name.replace('_', '')}",
        "version": 1,
        "kind": "pii.national_id",
        "level": "high",
        "action": "block",
        "score": 0.85 if alone else 0.9,
        "pattern": rf"\b({pattern})\b",
        "validator": check or f"stdnum:{name}",
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


def _named(
    name: str, pattern: str, examples: list[str], words: list[str], check: str | None = None
) -> dict[str, Any]:
    """A second rule for numbers that stand alone: in any shape, where the text names them."""
    rule = _number(name, pattern, examples, words, check=check or f"stdnum:{name}")
    return rule | {"id": rule["id"] + ".named"}


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
        "prefilter": sorted({_longest(word) for word in words}),
        "prefilter_pattern": "[0-9]{2}[ .\\-/]?[0-9]{2}",
    }


def _longest(phrase: str) -> str:
    """The longest word of a phrase, whose words may be joined by anything."""
    return max(re.split(r"[ *]+", phrase.strip("* ")), key=len)


_D = "[0-9]"
_DATE = r"[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])"
_DATE_OR_COORDINATION = r"[0-9]{2}(?:0[1-9]|1[0-2])(?:[06][1-9]|[1278][0-9]|[39][01])"
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
        rf"{_DAY}[-+A-FU-Ya-fu-y]{_D}{{3}}[0-9A-FHJ-NPR-Ya-fhj-npr-y]",
        ["080979-899T", "190495-5934", "240257-669C"],
        [],
        True,
    ),
    _number(
        "se.personnummer",
        rf"(?:19|20)?{_DATE_OR_COORDINATION}[-+]{_D}{{4}}",
        ["500820-9222", "741022-3403", "991110-9560"],
        [],
        True,
        check="personnummer",
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
        rf"{_DATE}-[1-8]{_D}{{6}}",
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
        rf"{_D}{{2}}\.?{_D}{{3}}\.?{_D}{{3}}[- ]?[A-Za-z]",
        ["56812610B", "09577745-Q", "13881314D"],
        ["dni", "nif", "documento", "identidad"],
    ),
    _number(
        "es.nie",
        rf"[XYZxyz][- .]?{_D}\.?{_D}{{3}}\.?{_D}{{3}}[- ]?[A-Za-z]",
        ["Z3754751Y", "Y4650315M", "Z5902551C"],
        ["nie", "extranjero", "residencia"],
    ),
    _number(
        "de.idnr",
        rf"{_D}{{2}}[ ./-]?{_D}{{3}}[ ./-]?{_D}{{3}}[ ./-]?{_D}{{3}}",
        ["85127498362", "53 095 246 581", "26/910/834/352"],
        [
            "steuer id",
            "steuer id*",
            "steueridentifikationsnummer",
            "steuerident*",
            "steuer identifikationsnummer",
            "steuerliche identifikationsnummer",
            "identifikationsnummer",
            "idnr",
            "id nr",
            "steuernummer",
            "steuer nr",
            "tin",
            "tax id",
            "tax identification",
            "tax number",
        ],
    ),
    _number(
        "nl.bsn",
        rf"{_D}{{4}}\.?{_D}{{2}}\.?{_D}{{3}}|{_D}{{3}} {_D}{{3}} {_D}{{3}}",
        ["328107384", "033172596", "481703202"],
        ["bsn", "burgerservicenummer", "burgerservice nummer", "sofinummer", "sofi nummer"],
    ),
    _number("pl.pesel", rf"{_D}{{11}}", ["51030853696", "79052669794", "59092319992"], ["pesel*"]),
    _number(
        "dk.cpr",
        rf"{_DAY}[- ]?{_D}{{4}}",
        ["100694-0310", "121157-0963", "0507912877"],
        ["cpr*", "personnummer*"],
        wrong="100694-031",
    ),
    _number(
        "no.fodselsnummer",
        rf"{_DAY} ?{_D}{{5}}",
        ["10108672949", "210272 63043", "14058931439"],
        ["f\u00f8dselsnummer*", "f\u00f8dselsnr", "fodselsnummer*", "personnummer*", "fnr", "national id"],
    ),
    _number(
        "at.vnr",
        rf"{_D}{{4}}[ -]?{_DAY}",
        ["6857160975", "8778 041168", "1448230693"],
        ["sozialversicherung*", "svnr", "sv nummer", "sv nr", "vsnr", "sv", "versicherungsnummer"],
    ),
    _number(
        "pt.nif",
        rf"[1-9]{_D}{{2}} ?{_D}{{3}} ?{_D}{{3}}",
        ["872823229", "587 304 243", "592561194"],
        ["nif", "contribuinte", "n\u00famero fiscal", "numero fiscal", "identifica\u00e7\u00e3o fiscal"],
    ),
    _number(
        "ie.pps",
        rf"{_D}{{7}}[A-Wa-w][A-IWa-iw]?",
        ["2059484A", "8379639P", "7436718R"],
        ["pps", "ppsn", "pps number", "personal public service"],
    ),
    _number(
        "ca.sin",
        rf"{_D}{{3}}[- ]?{_D}{{3}}[- ]?{_D}{{3}}",
        ["705-474-229", "968 135 251", "285911590"],
        ["sin", "social insurance*", "nas", "assurance sociale"],
    ),
    _number(
        "au.tfn",
        rf"{_D}{{3}}[- ]?{_D}{{3}}[- ]?{_D}{{3}}",
        ["410152734", "455 823 146", "148529883"],
        ["tfn", "tax file number"],
    ),
    _number(
        "in_.aadhaar",
        rf"[2-9]{_D}{{3}}[ -]?{_D}{{4}}[ -]?{_D}{{4}}",
        ["4104 0541 5723", "6130-1213-4127", "312019125745"],
        ["aadhaar", "aadhar", "adhaar", "uidai", "uid number", "\u0906\u0927\u093e\u0930"],
    ),
    _number(
        "in_.pan",
        rf"[A-Za-z]{{5}}{_D}{{4}}[A-Za-z]",
        ["AKNPG6373H", "SCKPB8632O", "KMUPF2263K"],
        ["pan", "pan card", "pan number", "permanent account number", "\u092a\u0948\u0928"],
        wrong="AKNXG6373H",
    ),
    _number(
        "za.idnr",
        rf"{_DATE} ?{_D}{{4}} ?{_D}{{3}}",
        ["7008054060088", "751025 9867 084", "8706051483083"],
        ["id number", "identity number", "sa id", "rsa id", "identity no", "south african id", "id nommer", "identiteitsnommer", "id no", "id nr"],
    ),
    _number(
        "tr.tckimlik",
        rf"[1-9]{_D}{{10}}",
        ["67810845504", "89274127460", "42652451458"],
        ["tc kimlik", "tckn", "kimlik no", "kimlik numara*", "t.c. kimlik", "kimlik", "t.c. no", "turkish id", "vatanda\u015fl\u0131k numara*"],
    ),
    _number(
        "il.idnr",
        rf"{_D}{{9}}",
        ["226288405", "404215279", "121774939"],
        ["teudat zehut", "israeli id", "\u05de\u05e1\u05e4\u05e8 \u05d6\u05d4\u05d5\u05ea", "\u05ea.\u05d6", "\u05ea\u05d6", "\u05ea\"\u05d6", "\u05ea\u05e2\u05d5\u05d3\u05ea \u05d6\u05d4\u05d5\u05ea"],
    ),
    _number(
        "ro.cnp",
        rf"[1-8]{_DATE}{_D}{{6}}",
        ["1810817404246", "1500315402313", "2741225406708"],
        ["cnp*", "cod numeric personal", "codul numeric"],
    ),
    _number(
        "bg.egn",
        rf"{_D}{{10}}",
        ["5908071790", "9103141701", "7204197367"],
        ["egn", "\u0435\u0434\u0438\u043d\u0435\u043d \u0433\u0440\u0430\u0436\u0434\u0430\u043d\u0441\u043a\u0438 \u043d\u043e\u043c\u0435\u0440", "\u0435\u0433\u043d"],
    ),
    _number("hr.oib", rf"{_D}{{11}}", ["39491576803", "02446353388", "81258283688"], ["oib*", "osobni identifikacijski broj"]),
    _number(
        "ee.ik",
        rf"[1-6]{_DATE}{_D}{{4}}",
        ["49709083853", "38803101268", "48904145075"],
        ["isikukood*", "isikukoodi*", "personal code", "personal identification code"],
    ),
    _number(
        "lt.asmens",
        rf"[3-6]{_DATE}{_D}{{4}}",
        ["48602119339", "48505040357", "38505088091"],
        ["asmens kod*", "personal code"],
    ),
    _number(
        "gr.amka",
        rf"{_DAY}{_D}{{5}}",
        ["17076312002", "20086014030", "19035061571"],
        ["amka", "social security", "\u03b1\u03bc\u03ba\u03b1"],
    ),
    _number(
        "es.ccc",
        rf"{_D}{{4}}[ -]?{_D}{{4}}[ -]?{_D}{{2}}[ -]?{_D}{{10}}",
        ["94797377103375810525", "5965 0761 81 2000926391", "94561633013571602226"],
        ["ccc", "cuenta", "cuenta bancaria", "c\u00f3digo cuenta cliente"],
    ),
    # in any shape, by name
    _named(
        "br.cpf",
        rf"{_D}{{3}}[. ]?{_D}{{3}}[. ]?{_D}{{3}}[-./ ]?{_D}{{2}}",
        ["50090518772", "610 513 881 47", "619188511-31"],
        ["cpf", "cadastro de pessoas f\u00edsicas"],
    ),
    _named(
        "be.nn",
        rf"{_D}{{2}}[. ]?{_D}{{2}}[. ]?{_D}{{2}}[-. ]?{_D}{{3}}[-. ]?{_D}{{2}}",
        ["75092671546", "580307-135.21", "80 12 05 913 22"],
        [
            "rijksregister*", "registre national", "niss", "insz", "nationaal nummer", "num\u00e9ro national",
            "national register number", "nationalregister*",
        ],
    ),
    _named(
        "se.personnummer",
        rf"(?:19|20)?{_DATE_OR_COORDINATION}[-+ ]?{_D}{{4}}",
        ["8902289134", "194701060644", "810607 9226"],
        ["personnummer*", "personnumret", "samordningsnummer*", "pnr", "swedish personal"],
        check="personnummer",
    ),
    _named(
        "fi.hetu",
        rf"{_DAY} ?[-+A-FU-Ya-fu-y] ?{_D}{{3}} ?[0-9A-FHJ-NPR-Ya-fhj-npr-y]",
        ["080979-899T", "190495 -5934", "240257-669c"],
        ["henkil\u00f6tunnu*", "hetu*", "sosiaaliturvatunnu*", "personbeteckning*"],
    ),
    _named(
        "kr.rrn",
        rf"{_DATE}[- ]?[1-8]{_D}{{6}}",
        ["8205281505084", "980909-4738156", "630717 2669807"],
        ["rrn", "resident registration", "\uc8fc\ubbfc", "\uc678\uad6d\uc778\ub4f1\ub85d", "\uc8fc\ubbfc\ub4f1\ub85d\ubc88\ud638", "\uc8fc\ubbfc\ubc88\ud638"],
        check="resident_number",
    ),
    _named(
        "th.pin",
        rf"{_D}[- ]?{_D}{{4}}[- ]?{_D}{{5}}[- ]?{_D}{{2}}[- ]?{_D}",
        ["8133201421221", "3 5235 75716 30 7", "7027343479838"],
        ["thai id", "thai national", "national id", "citizen id", "identification number", "\u0e1b\u0e23\u0e30\u0e0a\u0e32\u0e0a\u0e19"],
    ),
    _named(
        "cn.ric",
        rf"[1-8]{_D}{{5}} ?(?:19|20){_DATE} ?{_D}{{3}}[0-9Xx]",
        ["11010119540320245X", "110101 19900428 3713", "110101197306053690"],
        ["id card", "id number", "\u8eab\u4efd\u8bc1", "\u8eab\u4efd\u8b49", "\u516c\u6c11\u8eab\u4efd", "\u8eab\u4efd\u53f7\u7801"],
    ),
    _named(
        "cl.rut",
        rf"{_D}{{1,2}}[. ]?{_D}{{3}}[. ]?{_D}{{3}}[- ]?[0-9Kk]",
        ["60830589-0", "564052876", "55286205-8"],
        ["rut", "run", "rol \u00fanico", "c\u00e9dula"],
    ),
    _named(
        "ar.cuit",
        rf"(?:20|2[3-7]|30|33|34)[- ]?{_D}{{8}}[- ]?{_D}",
        ["20782675797", "27538917147", "20 90337211 8"],
        ["cuit", "cuil"],
    ),
    _named(
        "cz.rc",
        rf"{_D}{{2}}[0-8]{_D}[0-3]{_D}[/ ]?{_D}{{4}}",
        ["9809090412", "510720 5950", "6809189190"],
        ["rodn\u00e9 \u010d\u00edslo", "rodn\u00e9ho \u010d\u00edsla", "rodn\u00fdm \u010d\u00edslem", "rodne cislo", "r\u010d", "r.\u010d", "birth number"],
    ),
    # of other states, by name
    _number(
        "pt.cc",
        rf"{_D}{{8}}[ -]?{_D}[ -]?[A-Za-z0-9]{{2}}{_D}",
        ["53712247 8 ZZ6", "817502850ZZ2", "55779217 0 ZX0"],
        ["cart\u00e3o de cidad\u00e3o", "cartao de cidadao", "bilhete de identidade", "citizen card"],
    ),
    _number(
        "si.emso",
        rf"(?:0[1-9]|[12]{_D}|3[01])(?:0[1-9]|1[0-2]){_D}{{9}}",
        ["2411971502565", "1406958507941", "1407959508794"],
        ["em\u0161o", "emso", "jmbg", "\u0458\u043c\u0431\u0433", "mati\u010dni broj"],
    ),
    _number(
        "is_.kennitala",
        rf"{_DAY}[- ]?{_D}{{4}}",
        ["200696-6119", "0507439699", "200696 6119"],
        ["kennital*"],
        wrong="200696-6129",
    ),
    _number(
        "ua.rntrc",
        rf"{_D}{{10}}",
        ["0584612540", "2788294209", "7231262184"],
        ["\u0456\u043f\u043d", "\u0440\u043d\u043e\u043a\u043f\u043f", "\u0456\u0434\u0435\u043d\u0442\u0438\u0444\u0456\u043a\u0430\u0446\u0456\u0439\u043d\u0438\u0439 \u043a\u043e\u0434", "rntrc"],
    ),
    _number(
        "ru.inn",
        rf"{_D}{{12}}|{_D}{{10}}",
        ["103348632286", "876888767294", "3849908831"],
        ["\u0438\u043d\u043d", "inn number"],
    ),
    _number(
        "ru.snils",
        rf"{_D}{{3}}[- ]?{_D}{{3}}[- ]?{_D}{{3}}[- ]?{_D}{{2}}",
        ["130-447-991 50", "10673028534", "013 340 348 92"],
        ["\u0441\u043d\u0438\u043b\u0441", "snils"],
        check="snils",
    ),
    _number(
        "jp.in",
        rf"{_D}{{4}}[- ]?{_D}{{4}}[- ]?{_D}{{4}}",
        ["967894953045", "7613 4871 7309", "4004-2705-3030"],
        ["\u30de\u30a4\u30ca\u30f3\u30d0\u30fc", "\u500b\u4eba\u756a\u53f7", "my number", "individual number"],
        check="my_number",
    ),
    _number(
        "my.nric",
        rf"{_DATE}[- ]?{_D}{{2}}[- ]?{_D}{{4}}",
        ["790916-14-9484", "671216148014", "730306 08 3074"],
        ["nric", "mykad", "kad pengenalan", "no. kp"],
        wrong="790916-99-9484",
    ),
    _number(
        "ec.ci",
        rf"{_D}{{9}}-?{_D}",
        ["1725769846", "0964866602", "174430159-7"],
        ["c\u00e9dula", "cedula", "ecuadorian id"],
    ),
    _number(
        "pk.cnic",
        rf"{_D}{{5}}-?{_D}{{7}}-?{_D}",
        ["31384-7604464-9", "4586432996021", "37561-8196563-7"],
        ["cnic", "nic number", "\u0634\u0646\u0627\u062e\u062a\u06cc \u06a9\u0627\u0631\u0688"],
        wrong="91384-7604464-9",
    ),
    _number(
        "nz.ird",
        rf"{_D}{{2,3}}[- ]?{_D}{{3}}[- ]?{_D}{{3}}",
        ["89-051-487", "053-682-094", "22343521"],
        ["ird", "ird number", "inland revenue"],
    ),
    _number(
        "mx.rfc",
        rf"[A-Za-z&]{{4}}{_DATE}[0-9A-Za-z]{{3}}",
        ["GODE561231GR8", "MAHJ280603MD4", "CUPU800825569"],
        ["rfc", "registro federal"],
        wrong="GODE561331GR8",
    ),
    _number(
        "co.nit",
        rf"{_D}{{3}}\.?{_D}{{3}}\.?{_D}{{3}}-?{_D}",
        ["131.940.068-9", "001943671-2", "5524357126"],
        ["nit"],
    ),
    _number(
        "ve.rif",
        rf"[VEJPGvejpg]-?{_D}{{8}}-?{_D}",
        ["V-94249246-0", "V941405181", "J-13093255-9"],
        ["rif"],
    ),
    _number(
        "fr.nif",
        rf"[0-3]{_D} ?{_D}{{2}} ?{_D}{{3}} ?{_D}{{3}} ?{_D}{{3}}",
        ["03 00 689 589 326", "1192576616217", "35 83 266 519 126"],
        ["num\u00e9ro fiscal", "numero fiscal", "num\u00e9ro d'imposition"],
    ),
    _number(
        "gb.utr",
        rf"{_D}{{5}} ?{_D}{{5}}",
        ["7216364860", "90661 52391", "6018654181"],
        ["utr", "unique taxpayer reference"],
        wrong="8216364860",
    ),
    _number(
        "ke.pin",
        rf"[A-Za-z]{_D}{{9}}[A-Za-z]",
        ["A336678562X", "A093337259D", "A693122155F"],
        ["kra pin", "kra"],
        wrong="B336678562X",
    ),
]
