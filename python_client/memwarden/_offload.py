"""Where computing happens: beside the event loop for asyncio, in place without it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
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
