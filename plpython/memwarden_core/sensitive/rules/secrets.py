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


def _token(
    name: str,
    pattern: str,
    prefilter: list[str],
    example: list[tuple[str, int, str]],
    **members: Any,
) -> dict[str, Any]:
    """A rule for the tokens of one vendor; ``example`` are the parts that tests are made of."""
    samples = [
        "".join(
            lead + made_up(f"{name}{lead}{n}", size, letters) for lead, size, letters in example
        )
        for n in range(3)
    ]
    cut = samples[0][: max(len(example[0][0]) + 3, 6)]
    return {
        "id": f"secret.{name}",
        "version": 1,
        "kind": f"secret.{name}",
        "level": "high",
        "action": "block",
        "score": 0.95,
        "pattern": pattern,
        "prefilter": prefilter,
        "tests": {
            "positive": [
                f"The key is {samples[0]}.",
                f"export TOKEN={samples[1]}",
                f'{{"value": "{samples[2]}"}}',
            ],
            "negative": [
                f"Such keys begin with {example[0][0] or 'digits'} and go on at random.",
                f"Cut off it reads {cut}...",
                "Keys are kept in the vault and never in the notes.",
            ],
        },
        **members,
    }


# Between characters that a token cannot have.
_L, _R = r"(?:^|[^A-Za-z0-9_\-])", r"(?:[^A-Za-z0-9_\-]|$)"

_VENDORS = [
    _token(
        "aws_key",
        r"\b((?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16})\b",
        ["AKIA", "ASIA", "ABIA", "ACCA"],
        [("AKIA", 16, _ALNUM[26:52])],
    ),
    _token(
        "github_token",
        r"\b(gh[pousr]_[A-Za-z0-9]{30,255})\b",
        ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        [("ghp_", 36, _ALNUM)],
    ),
    _token(
        "github_fine_grained",
        r"\b(github_pat_[A-Za-z0-9_]{40,255})\b",
        ["github_pat_"],
        [("github_pat_", 22, _ALNUM), ("_", 59, _ALNUM)],
    ),
    _token(
        "gitlab_token",
        r"\b(gl(?:pat|ptt|dt|rt|cbt|soat|ft|imt|oas|agent)-[A-Za-z0-9_\-]{20,300})",
        [
            "glpat-",
            "glptt-",
            "gldt-",
            "glrt-",
            "glcbt-",
            "glsoat-",
            "glft-",
            "glimt-",
            "gloas-",
            "glagent-",
        ],
        [("glpat-", 20, _ALNUM)],
    ),
    _token(
        "slack_token",
        r"\b(xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9\-]{10,250}|xapp-[0-9]-[A-Z0-9]{6,20}-[0-9]{6,20}-[a-f0-9]{20,100})",
        ["xoxa", "xoxb", "xoxe", "xoxo", "xoxp", "xoxr", "xoxs", "xapp-"],
        [("xoxb-", 12, "0123456789"), ("-", 24, _ALNUM)],
    ),
    _token(
        "slack_webhook",
        r"(hooks\.slack\.com/(?:services|workflows|triggers)/[A-Z0-9]{6,20}/[A-Za-z0-9]{6,20}/[A-Za-z0-9]{16,100})",
        ["hooks.slack.com/"],
        [
            ("https://hooks.slack.com/services/T", 8, _ALNUM[26:]),
            ("/B", 8, _ALNUM[26:]),
            ("/", 24, _ALNUM),
        ],
    ),
    _token(
        "stripe_key",
        r"\b((?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{16,250}|whsec_[A-Za-z0-9+/=]{24,100})",
        ["sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_", "whsec_"],
        [("sk_" + "live_", 24, _ALNUM)],
    ),
    _token(
        "openai_key",
        _L
        + r"(sk-(?:proj|svcacct|admin|service|None|live|test|or-v1)-[A-Za-z0-9_\-]{20,300}|sk-[A-Za-z0-9]{20,100})"
        + _R,
        ["sk-"],
        [("sk-" + "proj-", 48, _ALNUM)],
    ),
    _token(
        "anthropic_key",
        r"\b(sk-ant-[a-z0-9]{2,12}-[A-Za-z0-9_\-]{20,300})",
        ["sk-ant-"],
        [("sk-ant-" + "api03-", 93, _ALNUM)],
        score=0.97,
    ),
    _token(
        "google_key",
        r"\b(AIza[0-9A-Za-z_\-]{35,60}|GOCSPX-[A-Za-z0-9_\-]{20,60}|ya29\.[A-Za-z0-9_\-]{20,300})",
        ["AIza", "GOCSPX-", "ya29."],
        [("AIza" + "Sy", 33, _ALNUM)],
    ),
    _token(
        "azure_key",
        r"(AccountKey=[A-Za-z0-9+/]{60,100}={0,2}|SharedAccessKey=[A-Za-z0-9+/]{30,100}={0,2}|[?&]sig=[A-Za-z0-9%+/]{40,120}|\b[A-Za-z0-9_~.\-]{3}8Q~[A-Za-z0-9_~.\-]{31,34}\b)",
        ["AccountKey=", "SharedAccessKey=", "sig=", "8Q~"],
        [("AccountKey=", 86, _ALNUM), ("==", 0, "")],
    ),
    _token(
        "twilio_key", r"\b(SK[0-9a-f]{32})\b", [], [("SK", 32, _HEX)], prefilter_pattern=LONG_TOKEN
    ),
    _token(
        "sendgrid_key",
        r"\b(SG\.[A-Za-z0-9_\-]{16,32}\.[A-Za-z0-9_\-]{16,64})",
        ["SG."],
        [("SG.", 22, _ALNUM), (".", 43, _ALNUM)],
    ),
    _token("npm_token", r"\b(npm_[A-Za-z0-9]{36})\b", ["npm_"], [("npm_", 36, _ALNUM)]),
    _token(
        "pypi_token",
        r"\b(pypi-[A-Za-z0-9_\-]{50,500})",
        ["pypi-"],
        [("pypi-" + "AgEIcHlwaS5vcmc", 80, _ALNUM)],
    ),
    _token(
        "hugging_face_token",
        r"\b((?:hf|api_org)_[A-Za-z0-9]{30,60})\b",
        ["hf_", "api_org_"],
        [("hf_", 34, _ALNUM)],
    ),
    _token(
        "digitalocean_token",
        r"\b(do[opr]_v1_[a-f0-9]{64})\b",
        ["dop_v1_", "doo_v1_", "dor_v1_"],
        [("dop_v1_", 64, _HEX)],
    ),
    _token(
        "telegram_token",
        r"\b([0-9]{8,10}:AA[A-Za-z0-9_\-]{32,34})",
        [":AA"],
        [("", 9, "123456789"), (":AA", 33, _ALNUM)],
    ),
    _token(
        "discord_webhook",
        r"(discord(?:app)?\.com/api/webhooks/[0-9]{16,20}/[A-Za-z0-9_\-]{40,100})",
        ["/api/webhooks/"],
        [("https://discord.com/api/webhooks/", 18, "123456789"), ("/", 68, _ALNUM)],
    ),
    _token(
        "discord_token",
        r"\b([MNO][A-Za-z0-9_\-]{23,27}\.[A-Za-z0-9_\-]{6}\.[A-Za-z0-9_\-]{27,40})\b",
        [],
        [("M", 23, _ALNUM), (".", 6, _ALNUM), (".", 38, _ALNUM)],
        prefilter_pattern=LONG_TOKEN,
    ),
    _token("mailgun_key", r"\b(key-[0-9a-f]{32})\b", ["key-"], [("key-", 32, _HEX)]),
    _token(
        "mailchimp_key",
        r"\b([0-9a-f]{32}-us[0-9]{1,2})\b",
        ["-us"],
        [("", 32, _HEX), ("-us", 2, "123456789")],
    ),
    _token(
        "shopify_token",
        r"\b(shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32})\b",
        ["shpat_", "shpca_", "shppa_", "shpss_"],
        [("shpat_", 32, _HEX)],
    ),
    _token(
        "square_token",
        r"\b(sq0[a-z]{3}-[A-Za-z0-9_\-]{22,60})",
        ["sq0"],
        [("sq0" + "atp-", 22, _ALNUM)],
    ),
    _token(
        "databricks_token", r"\b(dapi[a-f0-9]{32}(?:-[0-9])?)\b", ["dapi"], [("dapi", 32, _HEX)]
    ),
    _token(
        "airtable_token",
        r"\b(pat[A-Za-z0-9]{14}\.[a-f0-9]{64})\b",
        ["pat"],
        [("pat", 14, _ALNUM), (".", 64, _HEX)],
        prefilter_pattern=LONG_TOKEN,
    ),
    _token(
        "notion_token",
        r"\b(ntn_[A-Za-z0-9]{40,60}|secret_[A-Za-z0-9]{43})\b",
        ["ntn_", "secret_"],
        [("ntn_", 46, _ALNUM)],
    ),
    _token(
        "atlassian_token",
        r"\b(ATATT3[A-Za-z0-9_\-=]{50,250})",
        ["ATATT3"],
        [("ATATT3", 180, _ALNUM)],
    ),
    _token(
        "vault_token",
        r"\b(hv[sbr]\.[A-Za-z0-9_\-]{24,300})",
        ["hvs.", "hvb.", "hvr."],
        [("hvs.", 90, _ALNUM)],
    ),
    _token(
        "grafana_token",
        r"\b(gl(?:sa|c)_[A-Za-z0-9_]{32,300})",
        ["glsa_", "glc_"],
        [("glsa_", 32, _ALNUM), ("_", 8, _HEX)],
    ),
    _token(
        "service_token",
        r"\b((?:lin_api_|dckr_pat_|rubygems_|sntrys_|figd_|gsk_|pplx-|xai-|r8_|sbp_|pscale_(?:tkn|pw)_|dp\.(?:pt|st|ct)\.|PMAK-|NRAK-|tvly-|fo1_|co_api_|pk_prod_)[A-Za-z0-9_\-]{24,300}|AGE-SECRET-KEY-1[A-Z0-9]{50,60})",
        [
            "lin_api_",
            "dckr_pat_",
            "rubygems_",
            "sntrys_",
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
            "co_api_",
            "pk_prod_",
            "AGE-SECRET-KEY-",
        ],
        [("gsk_", 52, _ALNUM)],
    ),
    _token(
        "facebook_token",
        r"\b(EAA[A-Za-z0-9]{60,300})\b",
        ["EAA"],
        [("EAACEdEose0cBA", 120, _ALNUM)],
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
