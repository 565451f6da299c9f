"""How a hub under test gets at documents of clients: as always, but `clients.example` is on this machine."""

from typing import Any
from urllib.parse import urlsplit

import urllib3

from accounts.oauth import fetching


class Fetcher(fetching.Fetcher):
    def fetch(self, client_id: str) -> Any:
        parts = urlsplit(client_id)
        if parts.hostname != "clients.example":
            return super().fetch(client_id)
        with urllib3.HTTPConnectionPool("127.0.0.1", parts.port, timeout=5) as pool:
            return self._read_document(pool.urlopen("GET", parts.path, preload_content=False))
