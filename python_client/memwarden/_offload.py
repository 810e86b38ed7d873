"""Where computing happens: beside the event loop for asyncio, in place without it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import ParamSpec, TypeVar

Params = ParamSpec("Params")
ResultT = TypeVar("ResultT")


async def in_thread(
    function: Callable[Params, ResultT], *args: Params.args, **kwargs: Params.kwargs
) -> ResultT:
    """Call `function` without holding up the event loop."""
    return await asyncio.to_thread(function, *args, **kwargs)


def in_place(
    function: Callable[Params, ResultT], *args: Params.args, **kwargs: Params.kwargs
) -> ResultT:
    """Call `function`; what `in_thread` becomes in the generated client."""
    return function(*args, **kwargs)


async def awaited(value: ResultT | Awaitable[ResultT]) -> ResultT:
    """Return the value, or what it stands for when it is to be awaited."""
    return await value if isawaitable(value) else value


def at_hand(value: ResultT) -> ResultT:
    """Return the value; what `awaited` becomes in the generated client."""
    return value
