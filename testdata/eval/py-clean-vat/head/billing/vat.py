"""VAT of invoices, by rate."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

CENT = Decimal("0.01")

RATES = {
    "standard": Decimal("0.19"),
    "reduced": Decimal("0.07"),
}


@dataclass(frozen=True)
class Line:
    quantity: int
    unit_price: Decimal
    rate: str


def vat_by_rate(lines: Iterable[Line]) -> dict[str, Decimal]:
    """The VAT of lines, by the name of their rate."""
    net: dict[str, Decimal] = defaultdict(Decimal)
    for line in lines:
        net[line.rate] += line.quantity * line.unit_price
    return {
        name: (amount * RATES[name]).quantize(CENT, rounding=ROUND_HALF_UP)
        for name, amount in sorted(net.items())
    }
