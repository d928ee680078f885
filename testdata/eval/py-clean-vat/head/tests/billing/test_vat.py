from decimal import Decimal

import pytest

from billing.vat import Line, vat_by_rate


def test_rounded_half_up_once_for_each_rate():
    # 19 % of 0.75 is 0.1425; line by line it would come to 0.15.
    lines = [Line(1, Decimal("0.25"), "standard")] * 3
    assert vat_by_rate(lines) == {"standard": Decimal("0.14")}


def test_half_a_cent_is_rounded_up():
    assert vat_by_rate([Line(1, Decimal("0.50"), "standard")]) == {"standard": Decimal("0.10")}


def test_unknown_rates_are_refused():
    with pytest.raises(KeyError):
        vat_by_rate([Line(1, Decimal("1"), "luxury")])
