"""Conversations as programs keep them, by the schemas that they publish.

Each format takes what one person says, in parts, and wraps it as its program does: between an
answer of the assistant or another message, and beside a picture where the program has pictures.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Form = Callable[[list[str]], Any]
ELSEWHERE = "I live in Oslo."
"""What the assistant says of itself, a tool answers and a thought holds: nobody's words."""
PICTURE = "https://example.org/a.png"


def _text_parts(said: list[str], kind: str = "text") -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    for each in said:
        parts += [
            {"type": kind, "text": each},
            {"type": "image_url", "image_url": {"url": PICTURE}},
        ]
    return parts


def chat_completions(said: list[str]) -> Any:
    """OpenAI, a request of Chat Completions with parts."""
    return {
        "model": "m",
        "messages": [
            {"role": "system", "content": ELSEWHERE},
            {"role": "user", "content": _text_parts(said)},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function"}]},
            {"role": "tool", "tool_call_id": "c", "content": ELSEWHERE},
            {"role": "assistant", "content": ELSEWHERE},
        ],
    }


def responses(said: list[str]) -> Any:
    """OpenAI, input items of the Responses API."""
    return {
        "model": "m",
        "input": [
            {
                "type": "message",
                "role": "developer",
                "content": [{"type": "input_text", "text": ELSEWHERE}],
            },
            {
                "type": "message",
                "role": "user",
                "content": [
                    *_text_parts(said, "input_text"),
                    {"type": "input_file", "file_id": "f"},
                    {"type": "input_image", "image_url": PICTURE},
                ],
            },
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": ELSEWHERE}]},
            {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "c"},
            {"type": "function_call_output", "call_id": "c", "output": ELSEWHERE},
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": ELSEWHERE}],
            },
        ],
    }


def chatgpt_export(said: list[str]) -> Any:
    """ChatGPT, conversations.json: a tree, of which one branch was taken back."""

    def node(name: str, parent: str | None, role: str, parts: list[Any], kind: str = "text") -> Any:
        message = {
            "id": name,
            "author": {"role": role, "name": None, "metadata": {}},
            "content": {"content_type": kind, "parts": parts},
            "status": "finished_successfully",
            "metadata": {},
            "recipient": "all",
        }
        return {"id": name, "message": message, "parent": parent, "children": []}

    picture = {
        "content_type": "image_asset_pointer",
        "asset_pointer": "file-service://f",
        "width": 9,
    }
    thought = {"content_type": "thoughts", "thoughts": [{"summary": "s", "content": ELSEWHERE}]}
    nodes = [
        {"id": "root", "message": None, "parent": None, "children": ["s"]},
        node("s", "root", "system", [""]),
        node("u", "s", "user", [*said, picture], "multimodal_text"),
        node("edited", "s", "user", ["I live in Paris."]),
        node("a", "u", "assistant", [ELSEWHERE]),
        node("t", "a", "assistant", []),
    ]
    nodes[-1]["message"]["content"] = thought
    mapping = {each["id"]: each for each in nodes}
    return [{"title": "t", "create_time": 1.5, "mapping": mapping, "current_node": "t", "id": "c"}]


def claude_export(said: list[str]) -> Any:
    """Claude, conversations.json."""
    return [
        {
            "uuid": "u",
            "name": "n",
            "chat_messages": [
                {
                    "uuid": "m",
                    "text": "",
                    "content": [{"type": "text", "text": each, "citations": []} for each in said],
                    "sender": "human",
                    "attachments": [],
                    "files": [],
                },
                {
                    "text": ELSEWHERE,
                    "content": [{"type": "text", "text": ELSEWHERE}],
                    "sender": "assistant",
                },
            ],
        }
    ]


def claude_blocks(said: list[str]) -> Any:
    """Anthropic, content blocks of the Messages API."""
    picture = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "aGk="},
    }
    result = {
        "type": "tool_result",
        "tool_use_id": "t",
        "content": [{"type": "text", "text": ELSEWHERE}],
    }
    blocks = [block for each in said for block in ({"type": "text", "text": each}, picture)]
    return {
        "system": ELSEWHERE,
        "messages": [
            {"role": "user", "content": [result, *blocks]},
            {
                "role": "assistant",
                "content": [{"type": "thinking", "thinking": ELSEWHERE, "signature": "s"}],
            },
        ],
    }


def claude_code(said: list[str]) -> Any:
    """Claude Code, lines of a session."""
    return [
        {"type": "summary", "summary": "Tea", "leafUuid": "x"},
        {
            "type": "user",
            "message": {"role": "user", "content": "\n".join(said)},
            "uuid": "u",
            "cwd": "/w",
        },
        {
            "type": "assistant",
            "message": {"role": "assistant", "content": [{"type": "text", "text": ELSEWHERE}]},
        },
    ]


def gemini(said: list[str]) -> Any:
    """Google, contents of the Gemini API."""
    picture = {"inlineData": {"mimeType": "image/png", "data": "aGk="}}
    return {
        "contents": [
            {
                "role": "user",
                "parts": [part for each in said for part in ({"text": each}, picture)],
            },
            {"role": "model", "parts": [{"text": ELSEWHERE, "thought": True}, {"text": ELSEWHERE}]},
            {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
            {
                "role": "user",
                "parts": [{"functionResponse": {"name": "f", "response": {"a": ELSEWHERE}}}],
            },
        ]
    }


def bedrock(said: list[str]) -> Any:
    """Amazon Bedrock, messages of Converse."""
    return {
        "messages": [
            {
                "role": "user",
                "content": [{"text": each} for each in said]
                + [{"image": {"format": "png", "source": {}}}],
            },
            {
                "role": "user",
                "content": [{"toolResult": {"toolUseId": "t", "content": [{"text": ELSEWHERE}]}}],
            },
            {"role": "assistant", "content": [{"text": ELSEWHERE}]},
        ]
    }


def slack_text(said: list[str]) -> Any:
    """Slack, a day of an export."""
    return [
        {"type": "message", "user": "U0A1", "text": "\n".join(said), "ts": "1.2", "team": "T"},
        {
            "type": "message",
            "subtype": "channel_join",
            "user": "U0A1",
            "text": "<@U0A1> has joined",
            "ts": "1.3",
        },
    ]


def slack_blocks(said: list[str]) -> Any:
    """Slack, rich text: each word in an element of its own."""

    def section(text: str) -> Any:
        words: list[Any] = [{"type": "text", "text": f"{word} "} for word in text.split(" ")]
        words[-1] = {"type": "text", "text": text.split(" ")[-1], "style": {"bold": True}}
        return {"type": "rich_text_section", "elements": [*words, {"type": "emoji", "name": "tea"}]}

    picked = [section(each) for each in said]
    return {
        "type": "message",
        "user": "U0A1",
        "text": "",
        "blocks": [
            {"type": "divider"},
            {
                "type": "rich_text",
                "block_id": "b",
                "elements": [{"type": "rich_text_list", "style": "bullet", "elements": picked}],
            },
            {"type": "image", "image_url": PICTURE, "alt_text": "A picture of some tea"},
        ],
    }


def telegram(said: list[str]) -> Any:
    """Telegram Desktop, all chats of result.json, text as a list of entities."""
    text = [
        piece for each in said for piece in (each[:3], {"type": "bold", "text": each[3:]}, "\n")
    ]
    message = {
        "id": 2,
        "type": "message",
        "date": "2025-01-15T10:30:00",
        "from": "Ana",
        "from_id": "user7",
        "text": text,
        "text_entities": [{"type": "plain", "text": "".join(said)}],
    }
    service = {"id": 1, "type": "service", "actor": "Ana", "action": "create_group", "text": ""}
    return {
        "chats": {
            "about": "a",
            "list": [
                {"name": "Tea", "type": "personal_chat", "id": 1, "messages": [service, message]}
            ],
        }
    }


def langchain(said: list[str]) -> Any:
    """LangChain, messages_to_dict()."""
    return [
        {"type": "system", "data": {"content": ELSEWHERE, "type": "system"}},
        {
            "type": "human",
            "data": {"content": [*said[:-1], {"type": "text", "text": said[-1]}], "type": "human"},
        },
        {"type": "ai", "data": {"content": ELSEWHERE, "type": "ai", "tool_calls": []}},
        {"type": "tool", "data": {"content": ELSEWHERE, "type": "tool", "tool_call_id": "t"}},
    ]


def langchain_serialised(said: list[str]) -> Any:
    """LangChain, dumpd() of a state of messages."""

    def made(name: str, content: Any) -> Any:
        path = ["langchain", "schema", "messages", name]
        return {"lc": 1, "type": "constructor", "id": path, "kwargs": {"content": content}}

    return {
        "channel_values": {
            "messages": [
                made("SystemMessage", ELSEWHERE),
                made("HumanMessage", "\n".join(said)),
                made("AIMessageChunk", ELSEWHERE),
            ]
        }
    }


def sharegpt(said: list[str]) -> Any:
    """ShareGPT and what is trained on."""
    return {
        "id": "i",
        "conversations": [
            {"from": "system", "value": ELSEWHERE},
            *({"from": "human", "value": each} for each in said),
            {"from": "gpt", "value": ELSEWHERE},
            {"from": "observation", "value": ELSEWHERE},
        ],
    }


def ui_messages(said: list[str]) -> Any:
    """Vercel AI SDK, UIMessage."""
    return [
        {
            "id": "i",
            "role": "user",
            "parts": [
                {"type": "step-start"},
                *({"type": "text", "text": e, "state": "done"} for e in said),
            ],
        },
        {"id": "j", "role": "assistant", "parts": [{"type": "reasoning", "text": ELSEWHERE}]},
    ]


def discord(said: list[str]) -> Any:
    """DiscordChatExporter."""
    author = {"id": "7", "name": "ana", "nickname": "Ana", "isBot": False, "roles": []}
    message = {"id": "1", "type": "Default", "author": author, "attachments": [], "embeds": []}
    return {
        "guild": {"id": "1", "name": "g"},
        "channel": {"id": "2", "type": "GuildTextChat", "topic": "All that we say of tea"},
        "messages": [message | {"content": each, "mentions": []} for each in said],
    }


def matrix(said: list[str]) -> Any:
    """Matrix, messages of a room."""
    event = {"type": "m.room.message", "sender": "@ana:example.org", "origin_server_ts": 1}
    return {
        "chunk": [
            {
                "type": "m.room.member",
                "sender": "@ana:example.org",
                "content": {"membership": "join"},
            },
            *(event | {"content": {"msgtype": "m.text", "body": each}} for each in said),
            event | {"content": {"msgtype": "m.image", "body": "a.png", "url": "mxc://a"}},
        ]
    }


def teams(said: list[str]) -> Any:
    """Microsoft Graph, messages of a chat in Teams."""
    sender = {"user": {"id": "7", "displayName": "Ana", "userIdentityType": "aadUser"}}
    body = "".join(f"<p>{each}</p>" for each in said).replace(" ", "&nbsp;")
    return {
        "value": [
            {
                "messageType": "message",
                "from": sender,
                "body": {"contentType": "html", "content": f"<div>{body}</div>"},
            }
        ]
    }


def whatsapp(said: list[str]) -> Any:
    """WhatsApp, a call of its Cloud API."""
    messages = [
        {"from": "31612345678", "id": "w", "type": "text", "text": {"body": each}} for each in said
    ]
    value = {
        "messaging_product": "whatsapp",
        "metadata": {"phone_number_id": "1"},
        "messages": messages,
    }
    return {
        "object": "whatsapp_business_account",
        "entry": [{"id": "1", "changes": [{"value": value, "field": "messages"}]}],
    }


def messenger(said: list[str]) -> Any:
    """Messenger and Instagram, message_1.json."""
    return {
        "participants": [{"name": "Ana Maria"}, {"name": "Bo"}],
        "messages": [
            *({"sender_name": "Ana Maria", "timestamp_ms": 1, "content": each} for each in said),
            {"sender_name": "Ana Maria", "timestamp_ms": 2, "photos": [{"uri": "a.jpg"}]},
        ],
        "title": "Bo",
    }


def pascal_case(said: list[str]) -> Any:
    """Programs of .NET."""
    return {"Messages": [{"Role": "user", "Content": each} for each in said]}


def lines_of_windows(said: list[str]) -> Any:
    """A text with the mark of Windows before it, and its ends of lines."""
    return {"role": "user", "text": "\ufeff" + "".join(f"{each}\r\n" for each in said)}


def json_lines(said: list[str]) -> Any:
    """Lines of JSON in a text."""
    return "\ufeff" + "\r\n".join(f'{{"role": "user", "content": "{each}"}}' for each in said)


FORMATS: dict[str, Form] = {
    form.__name__: form
    for form in (
        *(chat_completions, responses, chatgpt_export, claude_export, claude_blocks, claude_code),
        *(gemini, bedrock, slack_text, slack_blocks, telegram, langchain, langchain_serialised),
        *(sharegpt, ui_messages, discord, matrix, teams, whatsapp, messenger, pascal_case),
        *(lines_of_windows, json_lines),
    )
}

UNKNOWN: list[Any] = [
    "Ana: I live in Rome.",
    {"instruction": "Say hello to all of us", "input": "", "output": "I live in Rome."},
    {"chosen": "\n\nHuman: I live in Rome.\n\nAssistant: Hi", "rejected": "\n\nHuman: No"},
    {"header": "Gemini Apps", "title": "Prompted I live in Rome", "products": ["Gemini Apps"]},
    {"utterings": {"ana": "I live in Rome."}},
    {"customer": "cus_77", "channel": "email"},
    {"role": "user", "content": [{"type": "hologram", "speech": "I live in Rome."}]},
    {"role": "user", "content": 7},
    {"user": "U0A1", "spoken": "I live in Rome."},
    ["", [7]],
    7,
    True,
]
"""Contents that each have a part of no known shape."""
