"""Erasing what concerns a person, and what the compliance run found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memwarden._async.session import AsyncSession
from memwarden._statements import governing as sql
from memwarden.results import Certificate


class AsyncErasing:
    """Erases a subject, and reports on compliance.

    A connection that breaks meanwhile raises `ConnectionFailed`: it may be asked again, and
    `NotFound` says then that the first call erased everything.
    """

    _session: AsyncSession

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
            "identifiers": list(identifiers),
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
