"""Sends a test event to a webhook that a customer is about to save."""

from __future__ import annotations

import ipaddress
import socket
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

import requests

TIMEOUT_SECONDS = 5
EVENT = {"event": "test", "data": {}}


class Refused(ValueError):
    """The URL is none that we send events to. Its text is for people."""


@dataclass(frozen=True)
class Trial:
    status: int
    milliseconds: int


def check(url: str) -> None:
    """Refuses all but https URLs of the internet."""
    parts = urlsplit(url)
    host = parts.hostname
    if parts.scheme != "https" or not host:
        raise Refused("Use a URL that begins with https://.")
    try:
        address = ipaddress.ip_address(socket.gethostbyname(host))
    except OSError as err:
        raise Refused(f"There is no host {host}.") from err
    if not address.is_global:
        raise Refused("Use a host that can be reached from the internet.")


def send(url: str) -> Trial:
    check(url)
    started = time.monotonic()
    response = requests.post(
        url, json=EVENT, timeout=TIMEOUT_SECONDS, headers={"User-Agent": "shop-webhooks"}
    )
    took = time.monotonic() - started
    return Trial(status=response.status_code, milliseconds=round(took * 1000))
