"""VAT of invoices, by rate."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal

RATES = {
    "standard": Decimal("0.19"),
    "reduced": Decimal("0.07"),
    "none": Decimal("0"),
}


@dataclass(frozen=True)
class Line:
    text: str
    quantity: int
    unit_price: float
    rate: str


@dataclass(frozen=True)
class VatAmount:
    rate: Decimal
    net: Decimal
    vat: Decimal


def vat_by_rate(lines: list[Line]) -> list[VatAmount]:
    """Sums lines by their rate, the highest rate first."""
    sums: dict[Decimal, Decimal] = defaultdict(Decimal)
    for line in lines:
        if line.rate not in RATES:
            raise ValueError(f"{line.text}: there is no rate {line.rate!r}")
        net = Decimal(line.quantity * line.unit_price)
        sums[RATES[line.rate]] += net
    amounts = []
    for rate, amount in sorted(sums.items(), reverse=True):
        vat = round(amount * rate, 2)
        amounts.append(VatAmount(rate=rate, net=round(amount, 2), vat=vat))
    return amounts
