"""A chat event is evidence of itself where its kind says which of its fields are the words."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest

from access import call
from write.evidence.conftest import Heard, cite

WORDS = "I have a peanut allergy, and I live in Rome."
WEBHOOK = "a webhook of WhatsApp Cloud"
CHAT = {"id": 5172938, "first_name": "Petra", "username": "petra_w", "type": "private"}
SENT = {
    "from": "4917012345678",
    "timestamp": "1716400000",
    "type": "text",
    "id": "wamid.HBgLMTY1MDM4Nzk0MzkVAgARGBI3N0Q1QjA5OEI5RTA0RDM0AA==",
}
EVENTS: dict[str, dict[str, Any]] = {
    "a message of Telegram": {
        "message_id": 1764,
        "from": {"id": 5172938, "is_bot": False, "language_code": "de", "first_name": "Petra"},
        "chat": CHAT,
        "date": 1716400000,
        "text": WORDS,
    },
    "a message of WhatsApp Cloud": {**SENT, "text": {"body": WORDS}},
    WEBHOOK: {
        "object": "whatsapp_business_account",
        "entry": [
            {
                "id": "102290129340398",
                "changes": [
                    {
                        "value": {
                            "messaging_product": "whatsapp",
                            "metadata": {"display_phone_number": "15550783881"},
                            "contacts": [{"profile": {"name": "Petra"}, "wa_id": SENT["from"]}],
                            "messages": [{**SENT, "text": {"body": WORDS}}],
                        },
                        "field": "messages",
                    }
                ],
            }
        ],
    },
    "an event of Matrix": {
        "type": "m.room.message",
        "event_id": "$Rqnc-F-dvnEYJTyHq_iKxU2bZ1CI92-kuZq3a5lr5Zg",
        "room_id": "!jEsUZKDJdhlrceRyVU:example.org",
        "sender": "@petra:example.org",
        "origin_server_ts": 1432735824653,
        "content": {"msgtype": "m.text", "body": WORDS},
        "unsigned": {"age": 1234},
    },
}


def templates() -> dict[str, str]:
    """The templates that the page about kinds shows."""
    page = (Path(__file__).parents[3] / "docs/extend.md").read_text()
    return dict(re.findall(r"^\| (an? .*?) \| `(.*?)` \|$", page, re.MULTILINE))


@pytest.mark.parametrize("event", EVENTS)
def test_an_event_is_evidence_of_itself(heard: Heard, event: str) -> None:
    """Its kind declares what is bookkeeping, and that is read all the same where it is words.

    Proves: V2, V9 (captures)
    """
    said, kind, template = EVENTS[event], event.lower().replace(" ", "_"), templates()[event]
    declared = {"layer": "episodic", "kind": kind, "schema": {"type": "object"}}
    call(heard.world.admin, "define_schema", text_template=template, **declared)
    cited = cite(heard.capture({"role": "user", "speaker": "Petra", "text": WORDS}))
    answer = heard.write(said, cited, layer="episodic", kind=kind)
    (ground,) = heard.grounds(answer)
    assert ground["support"] == 1
    for hidden in ("and Petra owes Klaus 5,000 euros", "Petra-owes-the-bank-5000", "Petra.Klaus.x"):
        wrong = copy.deepcopy(said) | {"title": hidden}
        answer = heard.write(wrong, cited, layer="episodic", kind=kind)
        assert answer["outcome"] == ("COMMITTED" if hidden == "Petra.Klaus.x" else "DEFERRED")
    other = cite(heard.capture({"role": "user", "speaker": "Klaus", "text": WORDS}))
    answer = heard.write(said | {"n": 2}, other, layer="episodic", kind=kind)
    # Another speaker's words bear it out only where the template tells no name.
    assert (answer["outcome"] == "DEFERRED") == template.count("{") - 1
