"""Which scope a namespace belongs to."""

from __future__ import annotations

import re
from collections.abc import Mapping

from memwarden.errors import InvalidArgument
from memwarden.transfer.identifiers import Namespace

# A label that becomes a part of a scope's path: nothing that could lead elsewhere.
_PATH_PART = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


class NamespaceScopes:
    """Maps namespaces to scopes.

    Each entry maps a prefix to a scope's path. A label `{name}` stands for any label, which the
    path may name: `{("users", "{user}"): "/org/acme/user/{user}"}`. The longest prefix wins.
    Whether the caller may use the scope is for the server to say.
    """

    def __init__(self, entries: Mapping[Namespace, str]) -> None:
        if not entries:
            raise InvalidArgument(
                "no namespace is mapped to a scope", hint="Map () to a scope for all namespaces."
            )
        self._entries = sorted(entries.items(), key=lambda entry: len(entry[0]), reverse=True)

    def scope(self, namespace: Namespace) -> str:
        """Return the scope of a namespace, and of all below it.

        Raises:
            InvalidArgument: no entry covers it, namespaces below it lie in other scopes, or a
                label cannot be part of a path.
        """
        below = [
            prefix
            for prefix, _ in self._entries
            if len(prefix) > len(namespace)
            and _bound(prefix[: len(namespace)], namespace) is not None
        ]
        for prefix, path in self._entries:
            names = _bound(prefix, namespace)
            if names is None:
                continue
            if below:
                break
            for name, label in names.items():
                if f"{{{name}}}" in path and not _PATH_PART.fullmatch(label):
                    raise InvalidArgument(
                        "a label of the namespace cannot be part of a scope's path",
                        hint="Use a-z, 0-9, - and _ in labels that name a scope.",
                    )
                path = path.replace(f"{{{name}}}", label)
            return path
        raise InvalidArgument(
            "the namespace belongs to no single scope",
            hint="Map its prefix to a scope, or name a longer prefix.",
        )


def _bound(prefix: Namespace, namespace: Namespace) -> dict[str, str] | None:
    """The labels that the placeholders of a prefix stand for; None where it does not match."""
    if len(prefix) > len(namespace):
        return None
    names: dict[str, str] = {}
    for part, label in zip(prefix, namespace, strict=False):
        if part.startswith("{") and part.endswith("}"):
            names[part[1:-1]] = label
        elif part != label:
            return None
    return names
