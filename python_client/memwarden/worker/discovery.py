"""Which plug-ins there are: those that come with the worker, and those that are installed."""

from __future__ import annotations

from collections.abc import Collection
from importlib.metadata import EntryPoint, entry_points

from memwarden.errors import InvalidArgument
from memwarden.worker.plugin import Verifier

GROUP = "memwarden.verifiers"

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


def available() -> dict[str, EntryPoint]:
    """Return the plug-ins by name, without importing any.

    No installed package takes the name of one that comes with the worker.
    """
    found = {each.name: each for each in entry_points(group=GROUP)}
    found |= {name: EntryPoint(name, value, GROUP) for name, value in BUILT_IN.items()}
    return dict(sorted(found.items()))


def load(names: Collection[str] | None = None) -> dict[str, Verifier]:
    """Import plug-ins, all that there are by default, and return them by name.

    Raises:
        InvalidArgument: there is no such plug-in, or what bears the name is none.
    """
    there = available()
    loaded: dict[str, Verifier] = {}
    for name in there if names is None else names:
        if name not in there:
            raise InvalidArgument(
                f"there is no plug-in {name}", hint=f"There are {', '.join(there)}."
            )
        try:
            made = there[name].load()
            plugin = made() if isinstance(made, type) else made
        except Exception as error:
            raise InvalidArgument(f"the plug-in {name} cannot be loaded: {error!r}") from error
        if not isinstance(plugin, Verifier) or plugin.name != name:
            raise InvalidArgument(
                f"the plug-in {name} has no name, version and judge(), or another name"
            )
        loaded[name] = plugin
    return loaded
