"""Dictionaries that the judge of two memories asks. For administrators."""

from __future__ import annotations

from memwarden._async.session import AsyncSession
from memwarden._statements import lexicon as sql
from memwarden.results import LoadedLexicon


class AsyncLexicon:
    """Loads dictionaries, and gives them up."""

    _session: AsyncSession

    async def load_lexicon(
        self, folder: str = "/usr/share/wordnet", language: str = "english"
    ) -> LoadedLexicon:
        """Load a dictionary from a folder of the server; with the same files again nothing changes.

        Raises:
            NotFound: the folder has no dictionary.
            InvalidArgument: its files are in another format, or the language is no name.
        """
        arguments = {"folder": folder, "language": language}
        rows = await self._session.fetch(sql.LOAD_LEXICON, arguments, LoadedLexicon)
        return rows[0]

    async def drop_lexicon(self, language: str = "english") -> bool:
        """Give a dictionary up; return whether there was one. No job loads it again."""
        rows = await self._session.fetch(
            sql.DROP_LEXICON, {"language": language}, dict[str, bool], repeatable=False
        )
        return rows[0]["dropped"]
