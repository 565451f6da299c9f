from collections.abc import Iterator

import pytest

from tests.vendors.fakes import FAKES
from tests.vendors.server import Vendor, VendorServer


@pytest.fixture
def vendors(settings) -> Iterator[dict[str, Vendor]]:
    """The five services on this machine, where the settings say they are; a slow one is given up soon."""
    servers = {name: VendorServer(fake()) for name, fake in FAKES.items()}
    settings.VENDOR_URLS = {name: server.address for name, server in servers.items()}
    settings.VENDOR_SECONDS = 0.5
    yield {name: server.vendor for name, server in servers.items()}
    for server in servers.values():
        server.stop()
