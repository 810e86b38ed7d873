"""Erasing what concerns a person, and what the compliance run found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from memwarden._async.session import AsyncSession
from memwarden._json import strict_json
from memwarden._lists import listed
from memwarden._statements import governing as sql
from memwarden.results import Certificate, Identifier


class AsyncErasing:
    """Erases a subject, and reports on compliance.

    A connection that breaks meanwhile raises `ConnectionFailed`: it may be asked again, and
    `NotFound` says then that the first call erased everything.
    """

    _session: AsyncSession

    async def register_subject(
        self,
        subject: str,
        identifiers: Mapping[str, str | Sequence[str]],
        *,
        org: str | None = None,
    ) -> list[Identifier]:
        """Register by what a person is found, and return all that is registered of the person.

        `identifiers` gives to each kind (name, email, phone, account, adapter) a text or several.
        What is registered already stays. `org` is the caller's by default.

        Raises:
            NotAllowed: the caller may not erase in the organisation.
            NotFound: there is no such organisation.
            InvalidArgument: an identifier is none of its kind, blank, too short or too long.
        """
        arguments = {"subject": subject, "identifiers": strict_json(identifiers), "org": org}
        return await self._session.fetch(
            sql.REGISTER_SUBJECT, arguments, Identifier, repeatable=True
        )

    async def unregister_subject(
        self,
        subject: str,
        identifiers: Mapping[str, str | Sequence[str]] | None = None,
        *,
        org: str | None = None,
    ) -> list[Identifier]:
        """Remove what was registered by mistake, by default all, and return what is left.

        Raises:
            NotAllowed: the caller may not erase in the organisation.
            NotFound: there is no such organisation, or the subject is not registered.
            InvalidArgument: an identifier is not registered.
        """
        given = None if identifiers is None else strict_json(identifiers)
        arguments = {"subject": subject, "identifiers": given, "org": org}
        return await self._session.fetch(
            sql.UNREGISTER_SUBJECT, arguments, Identifier, repeatable=False
        )

    async def find_subject(
        self, subject: str, *, identifiers: Sequence[str] = (), org: str | None = None
    ) -> list[UUID]:
        """Return the memories that concern a person: those that `erase_subject` would erase.

        Raises:
            NotAllowed: the caller may not erase in the organisation.
            NotFound: there is no such organisation.
            InvalidArgument: an argument is blank or too long.
        """
        arguments = {
            "subject": subject,
            "identifiers": listed("identifiers", identifiers),
            "org": org,
        }
        rows = await self._session.fetch(sql.FIND_SUBJECT, arguments, dict[str, UUID])
        return [row["item_id"] for row in rows]

    async def erase_subject(
        self,
        subject: str,
        reason: str,
        *,
        identifiers: Sequence[str] = (),
        org: str | None = None,
        dry_run: bool = False,
    ) -> Certificate:
        """Erase for good all that an organisation remembers of a subject, and what rests on that.

        `identifiers` (at most 100, of 2 to 1,000 characters) are found literally, as words of
        their own. `org` is the caller's by default. With `dry_run` nothing happens but counting.
        `reason` is kept with the certificate and must not name the subject.

        Raises:
            NotAllowed: the caller does not administer the organisation, or may not delete for good.
            NotFound: there is no such organisation, or nothing matched.
            InvalidArgument: an argument is blank or too long, or the reason names the subject.
        """
        arguments = {
            "subject": subject,
            "reason": reason,
            "identifiers": listed("identifiers", identifiers),
            "org": org,
            "dry_run": dry_run,
        }
        rows = await self._session.fetch(
            sql.ERASE_SUBJECT, arguments, Certificate, repeatable=dry_run
        )
        return rows[0]

    async def compliance_report(self, org: str | None = None) -> dict[str, Any]:
        """Return what governance reads of retention, erasures, consents and incidents.

        It holds ids, names, numbers and times, never content. `org` is one organisation; by default
        all that the caller oversees. `memwarden.compliance.page()` makes a page of it.

        Raises:
            NotAllowed: the caller oversees nothing.
            NotFound: there is no such organisation.
        """
        rows = await self._session.fetch(
            sql.COMPLIANCE_REPORT, {"org": org}, dict[str, dict[str, Any]]
        )
        return rows[0]["report"]
