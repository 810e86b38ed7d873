"""What a client can be given as its token, and how the server says no to it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeAlias

from memwarden.errors import MemwardenError
from memwarden.results import IssuedToken

Token: TypeAlias = str | IssuedToken
TokenSource: TypeAlias = Token | Callable[[], Token]
AsyncTokenSource: TypeAlias = Token | Callable[[], Token | Awaitable[Token]]


class Refusal(NamedTuple):
    """What `authenticate` raised; `final` where another token would not help."""

    error: MemwardenError
    final: bool
