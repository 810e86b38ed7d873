"""Consents, packs and proposals: what decides which memories may be kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal
from uuid import UUID

from memwarden._async.session import AsyncSession
from memwarden._json import strict_json
from memwarden._lists import listed
from memwarden._statements import governing as sql


class AsyncGoverning:
    """Records what people agree to and what an organisation lets pass."""

    _session: AsyncSession

    async def record_consent(
        self,
        subject: str,
        purpose: str,
        decision: Literal["granted", "withdrawn"],
        *,
        evidence: Sequence[Mapping[str, Any]] = (),
        org: str | None = None,
    ) -> UUID:
        """Record that a person agrees to be remembered for a purpose, or no longer does.

        Once a withdrawal is recorded, nobody recalls what rests on the consent; the job
        `enforce_consent` retracts it. Returns the number of the record.

        Raises:
            NotAllowed: the caller does not administer the organisation.
            InvalidArgument: an argument is malformed, or the evidence holds a secret.
            InvalidContent: the evidence is not JSON; nothing was sent.
        """
        arguments = {
            "subject": subject,
            "purpose": purpose,
            "decision": decision,
            "evidence": strict_json(listed("evidence", evidence)),
            "org": org,
        }
        rows = await self._session.fetch(
            sql.RECORD_CONSENT, arguments, dict[str, UUID], repeatable=False
        )
        return rows[0]["consent_id"]

    async def define_pack(
        self, name: str, definition: Mapping[str, Any], *, org: str | None = None
    ) -> int:
        """Make a new version of a pack and return its number; `use_pack` puts it in force.

        Raises:
            NotAllowed: the caller does not administer the organisation.
            InvalidArgument: the definition is malformed; the detail has every violation.
        """
        arguments = {"name": name, "definition": strict_json(definition), "org": org}
        rows = await self._session.fetch(
            sql.DEFINE_PACK, arguments, dict[str, int], repeatable=False
        )
        return rows[0]["version"]

    async def use_pack(
        self,
        pack: str | None,
        version: int | None = None,
        *,
        scope: str | None = None,
        agent: str | None = None,
        org: str | None = None,
    ) -> None:
        """Put a version of a pack in force, the latest by default; None ends the one there.

        For the organisation, or for a scope and all below it, or for an agent.

        Raises:
            NotAllowed: the caller does not administer the organisation.
            NotFound: there is no such pack, version, scope, agent or organisation.
        """
        arguments = {"pack": pack, "version": version, "scope": scope, "agent": agent, "org": org}
        await self._session.fetch(sql.USE_PACK, arguments, dict[str, Any], repeatable=False)

    async def proposal_document(self, proposal_id: UUID) -> dict[str, Any] | None:
        """Return a proposal that the caller may decide about, in the form of the memory fabric."""
        rows = await self._session.fetch(sql.PROPOSAL, {"proposal_id": proposal_id}, dict[str, Any])
        found: dict[str, Any] | None = rows[0]["proposal"]
        return found
