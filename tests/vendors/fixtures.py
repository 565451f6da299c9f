from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.vendors.authorities import AUTHORITIES, CLIENT, SECRET, Authority, make_authorities
from tests.vendors.fakes import FAKES, VENDOR_OF
from tests.vendors.server import Vendor, VendorServer


@contextmanager
def running_vendors(home: str) -> Iterator[dict[str, VendorServer]]:
    """Every service on this machine; those where one signs in send back to `home`."""
    authorities = make_authorities(home)
    servers = {
        name: VendorServer(fake(authority=authorities[VENDOR_OF.get(name, name)]))
        for name, fake in FAKES.items()
    }
    yield servers
    for server in servers.values():
        server.stop()


@pytest.fixture
def vendors(settings) -> Iterator[dict[str, Vendor]]:
    """The services, where the settings say they are; a slow one is given up soon."""
    with running_vendors(settings.PUBLIC_URL) as servers:
        settings.VENDOR_URLS = {name: server.address for name, server in servers.items()}
        settings.VENDOR_SECONDS = 0.5
        yield {name: server.vendor for name, server in servers.items()}


@pytest.fixture
def authorities(vendors: dict[str, Vendor], settings) -> dict[str, Authority]:
    """Where this hub is registered, and one can sign in."""
    settings.VENDOR_CLIENTS = dict.fromkeys(AUTHORITIES, (CLIENT, SECRET))
    found = {VENDOR_OF.get(name, name): vendor.authority for name, vendor in vendors.items()}
    return {name: authority for name, authority in found.items() if authority is not None}
