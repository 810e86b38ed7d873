"""One turn of a conversation in the shapes in which programs keep it."""

from __future__ import annotations

from typing import Any

UUID = "a3f1b2c4-1f2e-4a5b-8c9d-0123456789ab"


def formats(text: str, speaker: str = "Ana Silva") -> dict[str, Any]:
    """The turn in each shape, by the name of the program."""
    first = speaker.split()[0].lower()
    return {
        "a text": text,
        "a text in an object": {"text": text},
        "speaker and text": {"speaker": speaker, "text": text},
        "mem0": {
            "text": text,
            "user_id": first,
            "agent_id": "support-bot",
            "run_id": "run-17",
            "role": "user",
            "actor_id": first,
        },
        "OpenAI": {"role": "user", "content": text, "name": first},
        "Anthropic": {"role": "user", "content": [{"type": "text", "text": text}]},
        "Gemini": {"role": "user", "parts": [{"text": text}]},
        "LangChain": {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "schema", "messages", "HumanMessage"],
            "kwargs": {"content": text, "type": "human", "additional_kwargs": {}, "id": UUID},
        },
        "LangChain, as a dict": {
            "type": "human",
            "data": {"content": text, "type": "human", "example": False, "id": None},
        },
        "LlamaIndex": {
            "role": "user",
            "additional_kwargs": {},
            "blocks": [{"block_type": "text", "text": text}],
        },
        "Letta": {
            "id": f"message-{UUID}",
            "date": "2024-05-12T10:00:00+00:00",
            "message_type": "user_message",
            "content": text,
            "otid": None,
            "sender_id": None,
            "is_err": False,
        },
        "ShareGPT": {"conversations": [{"from": "human", "value": text}]},
        "ChatGPT": {
            "id": UUID,
            "author": {"role": "user", "name": None, "metadata": {}},
            "create_time": 1715508000.5,
            "content": {"content_type": "text", "parts": [text]},
        },
        "AutoGen": {
            "source": "user",
            "content": text,
            "type": "TextMessage",
            "models_usage": None,
            "metadata": {},
        },
        "Zep": {
            "uuid": UUID,
            "created_at": "2024-05-12T10:00:00Z",
            "role": speaker,
            "role_type": "user",
            "content": text,
            "token_count": 12,
        },
        "Slack": {
            "type": "message",
            "user": "U012AB3CDE",
            "text": text,
            "ts": "1355517523.000005",
            "team": "T1",
            "channel": "C1",
            "client_msg_id": UUID,
            "blocks": [
                {
                    "type": "rich_text",
                    "block_id": "xY1",
                    "elements": [
                        {
                            "type": "rich_text_section",
                            "elements": [{"type": "text", "text": text}],
                        }
                    ],
                }
            ],
        },
        "WhatsApp": {"date": "12/05/2023", "time": "14:32", "sender": speaker, "message": text},
        "Teams": {
            "id": "1615971548136",
            "messageType": "message",
            "createdDateTime": "2021-03-17T08:59:08.136Z",
            "replyToId": None,
            "etag": "1615971548136",
            "locale": "en-us",
            "importance": "normal",
            "from": {
                "application": None,
                "user": {"id": UUID, "displayName": speaker, "userIdentityType": "aadUser"},
            },
            "body": {"contentType": "text", "content": text},
            "attachments": [],
            "mentions": [],
        },
        "Discord": {
            "id": "334385199974967042",
            "type": 0,
            "content": text,
            "channel_id": "290926798999357250",
            "author": {
                "id": "53908099506183680",
                "username": first,
                "global_name": speaker,
                "discriminator": "0",
                "avatar": "a_bab14f271d565501444b2ca3be944b25",
            },
            "timestamp": "2017-07-11T17:27:07.299000+00:00",
            "edited_timestamp": None,
            "tts": False,
            "mention_everyone": False,
            "mentions": [],
            "embeds": [],
            "pinned": False,
            "flags": 0,
        },
        "mail": {
            "from": f"{speaker} <{first}@example.org>",
            "to": "bo@example.org",
            "date": "2024-05-12",
            "body": text,
            "message_id": "<1@example.org>",
        },
        "a transcript": {"start": 12.5, "end": 15.0, "speaker": "SPEAKER_00", "text": text},
    }
