"""Numbers whose shape and check digits are rare in other text: they stand alone."""

from __future__ import annotations

from ...light import Any
from .national_form import DATE, DATE_OR_COORDINATION, DAY, D, number

_STANDS_IN = "[0-9LMNP-V]"

ALONE_RULES: list[dict[str, Any]] = [
    number(
        "br.cpf",
        rf"{D}{{3}}\.{D}{{3}}\.{D}{{3}}-{D}{{2}}",
        ["450.749.528-83", "360.848.529-55", "511.311.544-44"],
        [],
        True,
    ),
    number(
        "fr.nir",
        rf"[12] ?{D}{{2}} ?(?:0[1-9]|1[0-2]) ?(?:{D}{{2}}|2[AB]) ?{D}{{3}} ?{D}{{3}} ?{D}{{2}}",
        ["2 61 03 75 310 161 23", "252087535704427", "1 89 10 75 663 452 57"],
        [],
        True,
    ),
    number(
        "be.nn",
        rf"{D}{{2}}\.{D}{{2}}\.{D}{{2}}-{D}{{3}}\.{D}{{2}}",
        ["66.08.05-131.94", "71.31.26-962.63", "54.08.18-371.85"],
        [],
        True,
        check="register_number",
    ),
    number(
        "fi.hetu",
        rf"{DAY}[-+A-FU-Ya-fu-y]{D}{{3}}[0-9A-FHJ-NPR-Ya-fhj-npr-y]",
        ["080979X903X", "190495-5934", "240204E669P"],
        [],
        True,
        check="hetu",
    ),
    number(
        "se.personnummer",
        rf"(?:19|20)?{DATE_OR_COORDINATION}[-+]{D}{{4}}",
        ["500820-9222", "741022-3403", "991110-9560"],
        [],
        True,
        check="personnummer",
    ),
    number(
        "ch.ssn",
        rf"756\.?{D}{{4}}\.?{D}{{4}}\.?{D}{{2}}",
        ["756.3107.9077.24", "756.6015.9922.71", "7560841880344"],
        [],
        True,
    ),
    number(
        "cn.ric",
        rf"[1-8]{D}{{5}}(?:19|20){DATE}{D}{{3}}[0-9Xx]",
        ["11010119540320245X", "110101199004283713", "110101197306053690"],
        [],
        True,
    ),
    number(
        "kr.rrn",
        rf"{DATE}-[1-8]{D}{{6}}",
        ["960628-1116351", "730408-1526754", "751210-1676794"],
        [],
        True,
    ),
    number(
        "mx.curp",
        rf"[A-Z]{{4}}{DATE}[HM][A-Z]{{5}}[0-9A-Z]{D}",
        ["BIDX670101MDFGBF07", "ROFJ830504HNLDNH03", "MIOL501009MDFMGC03"],
        [],
        True,
    ),
    number(
        "it.codicefiscale",
        # A letter stands for a digit where two people would have one code.
        rf"(?i:[A-Z]{{6}}{D}{_STANDS_IN}[A-EHLMPRST]{_STANDS_IN}{{2}}[A-Z]{_STANDS_IN}{{3}}[A-Z])",
        ["RVYQBB68P20H501P", "rgfsid81h14h501e", "RASIFT79B27H50MN"],
        [],
        True,
    ),
    number(
        "de.rvnr",
        rf"{D}{{2}} {DAY} [A-Za-z] {D}{{2}} ?{D}",
        ["15 070649 C 103", "65 170839 J 00 3", "12 190367 K 001"],
        [],
        True,
        check="pension_number",
    ),
    number(
        "th.pin",
        rf"{D}-{D}{{4}}-{D}{{5}}-{D}{{2}}-{D}",
        ["4-7520-89917-17-9", "3-7988-89051-21-1", "1-7446-51385-86-1"],
        [],
        True,
    ),
    number(
        "cl.rut",
        rf"{D}{{1,2}}\.{D}{{3}}\.{D}{{3}}-[0-9Kk]",
        ["45.161.870-9", "65.545.027-0", "38.794.207-6"],
        [],
        True,
    ),
    number(
        "ar.cuit",
        rf"(?:20|2[3-7]|30|33|34)-{D}{{8}}-{D}",
        ["20-46059675-1", "20-66929434-5", "20-97726067-2"],
        [],
        True,
    ),
    number(
        "cz.rc",
        rf"{D}{{2}}[0-8]{D}[0-3]{D}/{D}{{4}}",
        ["841023/8496", "681227/2357", "850117/5573"],
        [],
        True,
    ),
]
