from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field

from fastapi import APIRouter, Depends, UploadFile

from app.auth import Shop, current_shop
from catalogue.store import Product, save_products

router = APIRouter()


@dataclass
class Imported:
    saved: int = 0
    problems: list[str] = field(default_factory=list)


def parse(row: dict[str, str]) -> Product:
    sku = (row.get("sku") or "").strip()
    name = (row.get("name") or "").strip()
    if not sku or not name:
        raise ValueError("sku and name must be given")
    cents = int(row.get("price_cents") or "")
    if cents < 0:
        raise ValueError("price_cents must not be negative")
    return Product(sku=sku, name=name, price_cents=cents)


@router.post("/products/import")
async def import_products(upload: UploadFile, shop: Shop = Depends(current_shop)) -> Imported:
    text = (await upload.read()).decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    result = Imported()
    products = []
    for number, row in enumerate(rows, start=2):
        try:
            products.append(parse(row))
        except ValueError as err:
            result.problems.append(f"line {number}: {err}")
    await save_products(shop, products)
    result.saved = len(products)
    return result
