"""Makes tools of methods, with schemas that the strict mode of agent SDKs accepts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, ToolAnnotations
from pydantic import ValidationError

from memwarden.errors import InvalidArgument
from memwarden.mcp.answers import refusal
from memwarden.mcp.shapes import told_of

Method = Callable[..., Awaitable[CallToolResult]]

READS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
ADDS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
STEPS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)
CHANGES = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False
)
ENDS = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)


def made(methods: Iterable[tuple[ToolAnnotations, Iterable[Method]]]) -> list[Tool]:
    """Return a tool for each method; its docstring is what the model reads."""
    return [_tool(method, hints) for hints, group in methods for method in group]


class StrictTool(Tool):
    """A tool that answers wrong arguments as it answers any other refusal."""

    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> Any:
        """Check the arguments, and run the tool where they are right."""
        try:
            self.fn_metadata.validate_arguments(arguments)
        except ValidationError as error:
            return refusal(InvalidArgument(told_of(error)))
        return await super().run(arguments, context, convert_result)


def _tool(method: Method, hints: ToolAnnotations) -> Tool:
    tool = StrictTool.from_function(method, annotations=hints, structured_output=True)
    # A name that is misspelt is an error, and no argument less.
    arguments = tool.fn_metadata.arg_model
    arguments.model_config["extra"] = "forbid"
    arguments.model_rebuild(force=True)
    tool.parameters = strict(tool.parameters)
    tool.fn_metadata.output_schema = untitled(tool.fn_metadata.output_schema)
    return tool


def untitled(node: Any) -> Any:
    """Return a schema without titles, which repeat the names."""
    if isinstance(node, list):
        return [untitled(each) for each in node]
    if not isinstance(node, dict):
        return node
    # A property may be called title; its value is a schema.
    return {
        name: untitled(each)
        for name, each in node.items()
        if not (name == "title" and isinstance(each, str))
    }


def strict(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema whose objects are closed, without references, titles and defaults.

    Whatever may be left out takes null as well, since strict modes give every argument.
    """
    definitions = schema.get("$defs", {})
    schema = untitled(schema)

    def closed(node: Any) -> Any:
        if isinstance(node, list):
            return [closed(each) for each in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            named = untitled(definitions[node["$ref"].rpartition("/")[2]])
            node = named | {name: each for name, each in node.items() if name != "$ref"}
        told = {
            name: {key: closed(each) for key, each in value.items()}
            if name == "properties"
            else closed(value)
            for name, value in node.items()
            if name not in ("$defs", "default")
        }
        if told.get("type") == "object":
            told |= {"properties": told.get("properties", {}), "additionalProperties": False}
        return told

    result: dict[str, Any] = closed(schema)
    return result
