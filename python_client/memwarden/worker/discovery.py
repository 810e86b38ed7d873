"""Which plug-ins there are: those that come with the worker, and those that are installed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import TypeGuard, TypeVar

from memwarden.errors import InvalidArgument
from memwarden.worker.channel import Channel
from memwarden.worker.embedder import EmbedderPlugin
from memwarden.worker.plugin import Verifier

GROUP = "memwarden.verifiers"
CHANNEL_GROUP = "memwarden.channels"
EMBEDDER_GROUP = "memwarden.embedders"

# As in pyproject.toml; named here too, so that a checkout that is not installed has them.
BUILT_IN = {
    "classifier": "memwarden.worker.plugins.classifier:Classifier",
    "code_execution": "memwarden.worker.plugins.code_execution:CodeExecution",
    "consensus": "memwarden.worker.plugins.consensus:Consensus",
    "http_gate": "memwarden.worker.plugins.http_gate:HttpGate",
    "judges": "memwarden.worker.plugins.judges:Judges",
    "procedure_test": "memwarden.worker.plugins.procedure_test:ProcedureTest",
    "retrieval": "memwarden.worker.plugins.retrieval:Retrieval",
}
BUILT_IN_CHANNELS = {
    "email": "memwarden.worker.channels.email:Email",
    "webhook": "memwarden.worker.channels.webhook:Webhook",
}

BUILT_IN_EMBEDDERS = {
    "e5": "memwarden.worker.embedders.e5:E5",
    "http": "memwarden.worker.embedders.http:Http",
    "lexical": "memwarden.worker.embedders.lexical:Lexical",
    "local": "memwarden.worker.embedders.local:Local",
}

P = TypeVar("P", Verifier, Channel, EmbedderPlugin)


def available() -> dict[str, EntryPoint]:
    """Return the plug-ins by name, without importing any.

    No installed package takes the name of one that comes with the worker.
    """
    return _found(GROUP, BUILT_IN)


def available_channels() -> dict[str, EntryPoint]:
    """Return the channels by name, as `available` does the plug-ins."""
    return _found(CHANNEL_GROUP, BUILT_IN_CHANNELS)


def available_embedders() -> dict[str, EntryPoint]:
    """Return the embedders by name, as `available` does the plug-ins."""
    return _found(EMBEDDER_GROUP, BUILT_IN_EMBEDDERS)


def load(names: Collection[str] | None = None) -> dict[str, Verifier]:
    """Import plug-ins, all that there are by default, and return them by name.

    Raises:
        InvalidArgument: there is no such plug-in, or what bears the name is none.
    """
    return _loaded(available(), names, _is_verifier, "plug-in", "judge")


def load_channels(names: Collection[str] | None = None) -> dict[str, Channel]:
    """Import channels, all that there are by default, and return them by name.

    Raises:
        InvalidArgument: there is no such channel, or what bears the name is none.
    """
    return _loaded(available_channels(), names, _is_channel, "channel", "send")


def load_embedders(names: Collection[str] | None = None) -> dict[str, EmbedderPlugin]:
    """Import embedders, all that there are by default, and return them by name.

    Raises:
        InvalidArgument: there is no such embedder, or what bears the name is none.
    """
    return _loaded(available_embedders(), names, _is_embedder, "embedder", "embed")


def _is_embedder(plugin: object) -> TypeGuard[EmbedderPlugin]:
    return isinstance(plugin, EmbedderPlugin)


def _is_verifier(plugin: object) -> TypeGuard[Verifier]:
    return isinstance(plugin, Verifier)


def _is_channel(plugin: object) -> TypeGuard[Channel]:
    return isinstance(plugin, Channel)


def _found(group: str, built_in: Mapping[str, str]) -> dict[str, EntryPoint]:
    found = {each.name: each for each in entry_points(group=group)}
    found |= {name: EntryPoint(name, value, group) for name, value in built_in.items()}
    return dict(sorted(found.items()))


def _loaded(
    there: Mapping[str, EntryPoint],
    names: Collection[str] | None,
    is_one: Callable[[object], TypeGuard[P]],
    called: str,
    method: str,
) -> dict[str, P]:
    loaded: dict[str, P] = {}
    for name in there if names is None else names:
        if name not in there:
            raise InvalidArgument(
                f"there is no {called} {name}", hint=f"There are {', '.join(there)}."
            )
        try:
            made = there[name].load()
            plugin = made() if isinstance(made, type) else made
        except Exception as error:
            raise InvalidArgument(f"the {called} {name} cannot be loaded: {error!r}") from error
        if not is_one(plugin) or plugin.name != name:
            raise InvalidArgument(
                f"the {called} {name} has no name, version and {method}(), or another name"
            )
        loaded[name] = plugin
    return loaded
