"""The worker: asks plug-ins what the database wants judged, and tells reviewers what waits.

A plug-in is any object with the members of `Verifier`, named by an entry point of the group
`memwarden.verifiers`; a channel one with those of `Channel`, of the group `memwarden.channels`.
"""

from memwarden.worker.channel import Channel
from memwarden.worker.plugin import PluginError, Verdict, Verifier
from memwarden.worker.service import serve

__all__ = ["Channel", "PluginError", "Verdict", "Verifier", "serve"]
