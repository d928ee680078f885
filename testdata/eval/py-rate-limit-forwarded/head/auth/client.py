from __future__ import annotations

import ipaddress

from starlette.requests import Request


def address(request: Request) -> str:
    """The address of the client, for limits and logs."""
    forwarded = request.headers.get("x-forwarded-for", "")
    if forwarded:
        return forwarded.split(",")[0].strip()
    return request.client.host if request.client else ""


def network(text: str) -> str:
    """What one customer has: an IPv4 address, or a /64 of IPv6."""
    try:
        ip = ipaddress.ip_address(text)
    except ValueError:
        return "unknown"
    if ip.version == 4:
        return str(ip)
    return str(ipaddress.ip_network((ip, 64), strict=False))
