"""A browser without a screen: it keeps cookies and sends forms back as it was given them."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask
    from werkzeug.test import TestResponse

_CSRF = re.compile(r'name="csrf" value="([^"]+)"')


class Visitor:
    """Somebody with a browser of their own, at an address of their own."""

    def __init__(self, app: Flask, url: str, address: str = "192.0.2.1") -> None:
        self._url = url
        self.browser = app.test_client()
        self._environ = {"REMOTE_ADDR": address}

    def get(self, path: str, **headers: str) -> TestResponse:
        """Open a page."""
        answer = self.browser.get(
            path, base_url=self._url, headers=headers, environ_overrides=self._environ
        )
        answer.get_data()  # a file is read, and then closed
        answer.close()
        return answer

    def post(
        self, path: str, *, origin: str | None = "", csrf: str | None = "", **fields: str
    ) -> TestResponse:
        """Send a form, with what a browser adds to it unless told otherwise."""
        sent = {"origin": self._url if origin == "" else origin}
        token = self.csrf() if csrf == "" else csrf
        if token is not None:
            fields["csrf"] = token
        return self.browser.post(
            path,
            base_url=self._url,
            data=fields,
            headers={name: value for name, value in sent.items() if value is not None},
            environ_overrides=self._environ,
        )

    def csrf(self) -> str:
        """Return what the forms of this browser hold."""
        page = self.get("/login" if not self.is_in() else "/")
        found = _CSRF.search(page.text)
        assert found is not None, page.text
        return html.unescape(found[1])

    def is_in(self) -> bool:
        """Whether somebody is logged in here."""
        return self.get("/").status_code == 200

    def log_in(self, login: str, password: str) -> TestResponse:
        """Log in with a login role."""
        return self.post("/login", login=login, password=password)

    def present(self, token: str) -> TestResponse:
        """Log in with a token."""
        return self.post("/login", token=token)
