# ruff: noqa: E501 - a pattern is easier to read whole
"""Shipped rules for keys, tokens, passwords and private keys.

Their tests are put together here, so that no file holds anything that looks like a live key.
"""

from __future__ import annotations

import random

from ...light import Any
from ..decoding.decode import LONG_TOKEN

_LOWER = "abcdefghijklmnopqrstuvwxyz"
_ALNUM = _LOWER + _LOWER.upper() + "0123456789"
_HEX = "0123456789abcdef"


def made_up(seed: str, length: int, alphabet: str = _ALNUM) -> str:
    """Return characters drawn from an alphabet, always the same ones for a seed."""
    source = random.Random(seed)
    return "".join(source.choice(alphabet) for _ in range(length))


_DIGITS = "0123456789"
_Parts = list[tuple[str, int, str]]


def _token(
    name: str,
    body: str,
    prefilter: list[str],
    *examples: _Parts,
    grows: bool = False,
    **members: Any,
) -> dict[str, Any]:
    """A rule for the tokens of one vendor; ``examples`` are parts that tests are made of.

    An example has the least length. With one sign less it is no token, and with one more only
    where tokens may grow (``grows``).
    """
    tokens = [_made(name, parts, n) for parts in examples for n in range(3)]
    negative = [f"Such keys begin with {examples[0][0][0] or 'digits'} and go on at random."]
    for parts in examples:
        token = _made(name, parts, 0)
        # What ends it always is no part that is longer or shorter.
        end = parts[-1][0] if not parts[-1][1] else ""
        core = token.removesuffix(end)
        wrong = [f"x{token}", core[:-1] + end, *([] if grows else [core + core[-1] + end])]
        negative += [f"It reads {each} here." for each in wrong]
    return {
        "id": f"secret.{name}",
        "version": 1,
        "kind": f"secret.{name}",
        "level": "high",
        "action": "block",
        "score": 0.95,
        # It ends where no token goes on.
        "pattern": rf"\b({body})(?:[^\w\-]|$)",
        "prefilter": prefilter,
        "tests": {
            "positive": [
                f"The key is {tokens[0]}.",
                f"export TOKEN={tokens[1]}",
                f'{{"value": "{tokens[2]}"}}',
                *tokens[3:],
            ],
            "negative": negative,
        },
        **members,
    }


def _made(name: str, parts: _Parts, number: int) -> str:
    """A token of these parts: each is what is always there, and so many signs of an alphabet."""
    return "".join(
        lead + made_up(f"{name}{lead}{number}", size, letters) for lead, size, letters in parts
    )


# The lengths are those of the makers' documentation, or of the keys that they give out: what is
# shorter or goes on is something else, or found where a word calls it a secret (secret.assigned).
_VENDORS = [
    _token(
        "aws_key",
        "(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}",
        ["AKIA", "ASIA", "ABIA", "ACCA"],
        [("AKIA", 16, _ALNUM[26:52])],
    ),
    _token(
        "github_token",
        # They may grow, GitHub says. Those of an app's installation may hold a signed token.
        r"gh[pousr]_[A-Za-z0-9]{36,255}|ghs_[0-9]{1,12}_eyJ[\w\-]{10,900}\.[\w\-]{10,900}\.[\w\-]{10,900}",
        ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        [("ghp_", 36, _ALNUM)],
        grows=True,
    ),
    _token(
        "github_fine_grained",
        "github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}",
        ["github_pat_"],
        [("github_pat_", 22, _ALNUM), ("_", 59, _ALNUM)],
    ),
    _token(
        "gitlab_token",
        r"gl(?:pat|dt|rt|soat|ft|ffct)-[\w\-]{20}|glrt-t[0-9]_[\w\-]{20}|gl(?:pat|rt)-[\w\-]{27,300}\.[0-9a-z]{9}|glptt-[0-9a-f]{40}|glcbt-[0-9A-Za-z]{1,5}_[\w\-]{20}|glimt-[0-9a-z]{25}|gloas-[0-9a-f]{64}|glagent-[\w\-]{50}|GR1348941[\w\-]{20}",
        [
            "glpat-",
            "glptt-",
            "gldt-",
            "glrt-",
            "glcbt-",
            "glsoat-",
            "glft-",
            "glffct-",
            "glimt-",
            "gloas-",
            "glagent-",
            "GR1348941",
        ],
        [("glpat-", 20, _ALNUM)],
        [("glpat-", 30, _ALNUM), (".01", 7, _DIGITS)],
        [("gloas-", 64, _HEX)],
    ),
    _token(
        "slack_token",
        r"xoxb-[0-9]{8,14}(?:-[A-Za-z0-9]{8,14})?-[A-Za-z0-9]{24}|xox[pears](?:-[0-9]{1,14}){3}-[A-Za-z0-9]{32}|xox[ar]-2(?:-[0-9]{8,14}){2,3}-[A-Za-z0-9]{32}|xox[os](?:-[0-9]{8,14}){3}-[0-9a-f]{10}|xoxe\.xox[bp]-[0-9]-[A-Za-z0-9]{163,166}|xoxe-[0-9]-[A-Za-z0-9]{146}|xapp-[0-9]-[A-Z0-9]{9,12}-[0-9]{10,14}-[0-9a-f]{64}",
        ["xoxa", "xoxb", "xoxe", "xoxo", "xoxp", "xoxr", "xoxs", "xapp-"],
        [("xoxb-", 12, _DIGITS), ("-", 24, _ALNUM)],
        [("xoxp-", 12, _DIGITS), ("-", 12, _DIGITS), ("-", 13, _DIGITS), ("-", 32, _HEX)],
        [("xapp-1-A", 10, _ALNUM[26:]), ("-", 13, _DIGITS), ("-", 64, _HEX)],
    ),
    _token(
        "slack_webhook",
        r"hooks\.slack\.com/(?:services/T[A-Z0-9]{7,11}/B[A-Z0-9]{7,11}/[A-Za-z0-9]{24}|workflows/T[A-Z0-9]{7,11}/A[A-Z0-9]{7,11}/[0-9]{15,20}/[A-Za-z0-9]{24}|triggers/[TE][A-Z0-9]{7,11}/[0-9]{10,16}/[0-9a-f]{32})",
        ["hooks.slack.com/"],
        [("hooks.slack.com/services/T", 8, _ALNUM[26:]), ("/B", 8, _ALNUM[26:]), ("/", 24, _ALNUM)],
    ),
    _token(
        "stripe_key",
        "(?:sk|rk)_(?:live|test|prod)_(?:[A-Za-z0-9]{24}|[A-Za-z0-9]{99})|whsec_(?:[A-Za-z0-9]{32}|[A-Za-z0-9+/]{32}|[A-Za-z0-9+/]{43}=|[0-9a-f]{64})",
        ["sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_", "rk_prod_", "whsec_"],
        [("sk_" + "live_", 24, _ALNUM)],
        [("sk_" + "live_51", 97, _ALNUM)],
        [("whsec_", 32, _ALNUM)],
    ),
    _token(
        "openai_key",
        r"sk-[A-Za-z0-9]{48}|sk-[0-9a-f]{32}|sk-or-v1-[0-9a-f]{64}|sk-(?:proj|svcacct|admin|service|None|live|test)-[\w\-]{32,200}",
        ["sk-"],
        [("sk-", 20, _ALNUM), ("T3BlbkFJ", 20, _ALNUM)],
        [("sk-", 32, _HEX)],
    ),
    _token(
        "anthropic_key",
        r"sk-ant-[a-z]{3,5}[0-9]{2}-[\w\-]{95}",
        ["sk-ant-"],
        [("sk-ant-" + "api03-", 93, _ALNUM), ("AA", 0, "")],
        score=0.97,
    ),
    _token(
        "google_key",
        r"AIza[\w\-]{35}|GOCSPX-[\w\-]{28}|ya29\.[\w\-]{50,1000}",
        ["AIza", "GOCSPX-", "ya29."],
        [("AIza" + "Sy", 33, _ALNUM)],
        [("GOCSPX-", 28, _ALNUM)],
    ),
    _token(
        "azure_key",
        r"AccountKey=[A-Za-z0-9+/]{86}==|SharedAccessKey=[A-Za-z0-9+/]{43}=|sig=[A-Za-z0-9%+/]{43,90}(?:=|%3[Dd])|[A-Za-z0-9_~.\-]{3}8Q~[A-Za-z0-9_~.\-]{31,34}",
        ["AccountKey=", "SharedAccessKey=", "sig=", "8Q~"],
        [("AccountKey=", 86, _ALNUM), ("==", 0, "")],
        [("SharedAccessKey=", 43, _ALNUM), ("=", 0, "")],
    ),
    _token("twilio_key", "SK[0-9a-f]{32}", [], [("SK", 32, _HEX)], prefilter_pattern=LONG_TOKEN),
    _token(
        "sendgrid_key",
        r"SG\.[\w\-]{22}\.[\w\-]{43}",
        ["SG."],
        [("SG.", 22, _ALNUM), (".", 43, _ALNUM)],
    ),
    _token("npm_token", "npm_[A-Za-z0-9]{36}", ["npm_"], [("npm_", 36, _ALNUM)]),
    _token(
        "pypi_token",
        # Its head says for whom it is: pypi.org or test.pypi.org. What follows is of any length.
        r"pypi-AgE(?:IcHlwaS5vcmc|NdGVzdC5weXBpLm9yZw)[\w\-]{50,1000}",
        ["pypi-"],
        [("pypi-" + "AgEIcHlwaS5vcmc", 50, _ALNUM)],
        grows=True,
    ),
    _token(
        "hugging_face_token",
        "(?:hf|api_org)_[A-Za-z0-9]{34}",
        ["hf_", "api_org_"],
        [("hf_", 34, _ALNUM)],
    ),
    _token(
        "digitalocean_token",
        "do[opr]_v1_[a-f0-9]{64}",
        ["dop_v1_", "doo_v1_", "dor_v1_"],
        [("dop_v1_", 64, _HEX)],
    ),
    _token(
        "telegram_token",
        r"[0-9]{8,10}:AA[\w\-]{33}",
        [":AA"],
        [("", 9, _DIGITS[1:]), (":AA", 33, _ALNUM)],
    ),
    _token(
        "discord_webhook",
        r"discord(?:app)?\.com/api/webhooks/[0-9]{16,20}/[\w\-]{68}",
        ["/api/webhooks/"],
        [("discord.com/api/webhooks/", 18, _DIGITS[1:]), ("/", 68, _ALNUM)],
    ),
    _token(
        "discord_token",
        r"[MNO][\w\-]{23,25}\.[\w\-]{6}\.(?:[\w\-]{27}|[\w\-]{38})",
        [],
        [("M", 23, _ALNUM), (".", 6, _ALNUM), (".", 38, _ALNUM)],
        prefilter_pattern=LONG_TOKEN,
    ),
    _token("mailgun_key", "key-[0-9a-f]{32}", ["key-"], [("key-", 32, _HEX)]),
    _token(
        "mailchimp_key",
        "[0-9a-f]{32}-us[0-9]{1,2}",
        ["-us"],
        [("", 32, _HEX), ("-us", 1, _DIGITS[1:])],
        grows=True,
    ),
    _token(
        "shopify_token",
        "shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}",
        ["shpat_", "shpca_", "shppa_", "shpss_"],
        [("shpat_", 32, _HEX)],
    ),
    _token(
        "square_token",
        r"sq0(?:atp|idp)-[\w\-]{22}|sq0csp-[\w\-]{43}",
        ["sq0"],
        [("sq0" + "atp-", 22, _ALNUM)],
        [("sq0" + "csp-", 43, _ALNUM)],
    ),
    _token("databricks_token", "dapi[a-f0-9]{32}(?:-[0-9])?", ["dapi"], [("dapi", 32, _HEX)]),
    _token(
        "airtable_token",
        r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}",
        ["pat"],
        [("pat", 14, _ALNUM), (".", 64, _HEX)],
        prefilter_pattern=LONG_TOKEN,
    ),
    _token(
        "notion_token",
        "ntn_[A-Za-z0-9]{46}|secret_[A-Za-z0-9]{43}",
        ["ntn_", "secret_"],
        [("ntn_", 46, _ALNUM)],
    ),
    _token("atlassian_token", r"ATATT3[\w\-=]{186}", ["ATATT3"], [("ATATT3", 186, _ALNUM)]),
    _token(
        "vault_token",
        r"hvs\.(?:[\w\-]{24}|[\w\-]{90,120})|hvb\.[\w\-]{138,300}|hvr\.[\w\-]{90,300}",
        ["hvs.", "hvb.", "hvr."],
        [("hvs.", 24, _ALNUM)],
    ),
    _token(
        "grafana_token",
        "glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|glc_[A-Za-z0-9+/]{32,400}={0,3}",
        ["glsa_", "glc_"],
        [("glsa_", 32, _ALNUM), ("_", 8, _HEX)],
    ),
    _token(
        "service_token",
        r"lin_api_[A-Za-z0-9]{40}|dckr_pat_[\w\-]{27}|rubygems_[a-f0-9]{48}|sntrys_eyJ[A-Za-z0-9+/=]{50,400}_[A-Za-z0-9+/]{43}|sntryu_[a-f0-9]{64}|figd_[\w\-]{40}|gsk_[A-Za-z0-9]{52}|pplx-[A-Za-z0-9]{48}|xai-[A-Za-z0-9]{80}|r8_[A-Za-z0-9]{37}|sbp_[a-f0-9]{40}"
        r"|pscale_(?:tkn|pw|oauth)_[\w\-.=]{32,64}|dp\.pt\.[A-Za-z0-9]{43}|dp\.[sc]t\.(?:[a-z0-9\-_]{2,35}\.)?[A-Za-z0-9]{40,44}|PMAK-[a-f0-9]{24}-[a-f0-9]{34}|NRAK-[A-Za-z0-9]{27}|tvly-(?:dev-|prod-)?[A-Za-z0-9]{32}|fo1_[\w\-]{43}|pk_prod_[A-Z0-9]{28}"
        r"|AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}",
        [
            "lin_api_",
            "dckr_pat_",
            "rubygems_",
            "sntrys_",
            "sntryu_",
            "figd_",
            "gsk_",
            "pplx-",
            "xai-",
            "r8_",
            "sbp_",
            "pscale_",
            "dp.pt.",
            "dp.st.",
            "dp.ct.",
            "PMAK-",
            "NRAK-",
            "tvly-",
            "fo1_",
            "pk_prod_",
            "AGE-SECRET-KEY-",
        ],
        [("gsk_", 52, _ALNUM)],
        [("lin_api_", 40, _ALNUM)],
        [("AGE-SECRET-KEY-1", 58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L")],
    ),
    _token(
        "facebook_token",
        "EAA[A-Za-z0-9]{60,300}",
        ["EAA"],
        [("EAACEdEose0cBA", 49, _ALNUM)],
        grows=True,
    ),
]
_PRIVATE = "PRIVATE " + "KEY"
_JWT = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9" + ".eyJzdWIiOiI0MiJ9." + made_up("jwt", 43)
_JWT_2 = "eyJhbGciOiJSUzI1NiIsImtpZCI6ImEifQ" + ".eyJpc3MiOiJhdXRoIn0." + made_up("jwt2", 86)

_GENERAL: list[dict[str, Any]] = [
    {
        "id": "secret.private_key",
        "version": 1,
        "kind": "secret.private_key",
        "level": "high",
        "action": "block",
        "detector": "private_key",
        "prefilter": [f"{_PRIVATE}"],
        "tests": {
            "positive": [
                f"-----BEGIN RSA {_PRIVATE}-----\n{made_up('pem', 64)}\n-----END RSA {_PRIVATE}-----",
                f"key: -----BEGIN OPENSSH {_PRIVATE}-----\n{made_up('ssh', 70)}",
                f"-----BEGIN PGP {_PRIVATE} BLOCK-----\n\n{made_up('pgp', 64)}\n-----END PGP {_PRIVATE} BLOCK-----",
            ],
            "negative": [
                "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
                f"A PEM file begins with -----BEGIN {_PRIVATE}-----",
                "Where is the private key kept?",
            ],
        },
    },
    {
        "id": "secret.jwt",
        "version": 1,
        "kind": "secret.jwt",
        "level": "high",
        "action": "block",
        "detector": "jwt",
        "prefilter": ["eyJ"],
        "tests": {
            "positive": [
                f"Authorization: Bearer {_JWT}",
                f"token={_JWT_2}",
                f'{{"id_token":"{_JWT}"}}',
            ],
            "negative": [
                "eyJub3QiOiJhIHRva2VuIn0.eyJhIjoxfQ.abcdefghijk",
                "A JSON web token begins with eyJ and has three parts.",
                "eyJhbGciOiJIUzI1NiJ9 is only a header",
            ],
        },
    },
    {
        "id": "secret.url_password",
        "version": 1,
        "kind": "secret.url_password",
        "level": "high",
        "action": "block",
        "detector": "url_password",
        "prefilter": ["://"],
        "tests": {
            "positive": [
                "postgresql://app:q7Lk-22x@db.internal:5432/app",
                "Clone https://bob:tr0ub4dor@git.example.org/x.git",
                "redis://:S3cr3t!pw@cache:6379/0",
            ],
            "negative": [
                "postgresql://user:<password>@host/db",
                "https://example.org:8443/a@b",
                "amqp://${USER}:${PASSWORD}@queue",
            ],
        },
    },
    {
        "id": "secret.assigned",
        "version": 1,
        "kind": "secret.assigned",
        "level": "high",
        "action": "block",
        "detector": "assigned_secret",
        "prefilter": [
            "pass",
            "pwd",
            "pw",
            "api",
            "token",
            "secret",
            "key",
            "credential",
            "auth",
            "kennwort",
            "contrase",
            "senha",
        ],
        "tests": {
            "positive": [
                "password=Tr0ub4dor&3",
                '"api_key": "q8Zt5Lw2Xv9Rb4Nc7Ym1"',
                "My password is hunter2!",
                "DB_PASSWORD: k9#mQ2vX",
                "client_secret = 'hG7kL2pQ9sV4xZ1c'",
            ],
            "negative": [
                "password=<your password>",
                "password: ********",
                "DB_PASSWORD=${DB_PASSWORD}",
                "The password is required.",
                "token: str = get_token()",
                "The secret is to keep going.",
                "password: changed yesterday",
            ],
        },
    },
    {
        "id": "secret.authorization",
        "version": 1,
        "kind": "secret.authorization",
        "level": "high",
        "action": "block",
        "score": 0.9,
        "pattern": r"(?i)\b(?:bearer\s+|basic\s+|token\s+token=\"?)([A-Za-z0-9._~+/\-]{16,1000}={0,2})",
        "validator": "entropy>=3.3",
        "context": ["authorization", "bearer", "header", "curl"],
        "prefilter": ["bearer ", "basic ", "token token="],
        "tests": {
            "positive": [
                f"Authorization: Bearer {made_up('b1', 40)}",
                "Authorization: Basic am86cHc0MjpzZWNyZXQ=",
                f"curl -H 'authorization: bearer {made_up('b2', 24)}' https://api.example",
            ],
            "negative": [
                "Authorization: Bearer <token>",
                "The bearer of this letter is my brother.",
                "The header says basic things only.",
            ],
        },
    },
    {
        "id": "secret.prefixed_key",
        "version": 1,
        "kind": "secret.prefixed_key",
        "level": "high",
        "action": "block",
        "detector": "prefixed_key",
        "prefilter_pattern": r"(?:sk|pk|rk|ak|api|key|tok|token|pat|sess|secret)[-_][a-z0-9_\-]{8}",
        "tests": {
            "positive": [
                "Use API key sk-dev-" + "qwe456 for the sandbox.",
                f"The key for staging: pk_live_{made_up('p1', 10)}",
                f"token (tok-{made_up('p2', 12)})",
                "Our API key for staging: sk-stage-" + "rty789, for now",
            ],
            "negative": [
                "The key sk-learn-model is a file name.",
                "API key api-docs-v2-2024-guide",
                "Branch sk-dev-" + "qwe456 is merged.",
                "The API key for api-server01 was rotated",
                "The primary key pk_orders2024 is slow",
                "The access token of tok-service01 expired",
            ],
        },
    },
    {
        "id": "secret.random",
        "version": 1,
        "kind": "secret.random",
        "level": "high",
        "action": "block",
        "detector": "random_secret",
        "prefilter_pattern": LONG_TOKEN,
        "tests": {
            "positive": [
                f"The webhook secret {made_up('r1', 40)} was rotated.",
                f"Bearer {made_up('r2', 44)}",
                f"credentials ({made_up('r3', 36)})",
            ],
            "negative": [
                f"commit {made_up('r4', 40, _HEX)}",
                f"The token's sha256 is {made_up('r5', 64, _HEX)}",
                f"See {made_up('r6', 40)} in the index.",
            ],
        },
    },
    {
        "id": "secret.pin",
        "version": 1,
        "kind": "secret.pin",
        "level": "suspicious",
        "action": "flag",
        "detector": "pin",
        "prefilter": ["pin", "cvv", "cvc", "security code"],
        "tests": {
            "positive": ["The PIN is 4821.", "cvv: 123", "pin code: 99021"],
            "negative": ["Pinned 3 messages", "PIN is required", "spin 4821 times"],
        },
    },
]

SECRET_RULES: list[dict[str, Any]] = [*_VENDORS, *_GENERAL]
