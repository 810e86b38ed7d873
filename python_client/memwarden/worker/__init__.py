"""The worker: asks plug-ins what the database wants judged, and brings back their verdicts.

A plug-in is any object with the members of `Verifier`, named by an entry point of the group
`memwarden.verifiers`.
"""

from memwarden.worker.plugin import PluginError, Verdict, Verifier
from memwarden.worker.service import serve

__all__ = ["PluginError", "Verdict", "Verifier", "serve"]
