import re

from fastapi import APIRouter, HTTPException
from pydantic import BaseModel

from checkout import orders, vies

router = APIRouter()

VAT_NUMBER = re.compile(r"(?P<country>[A-Z]{2})(?P<number>[0-9A-Z]{2,12})")


class Checkout(BaseModel):
    cart_id: str
    vat_number: str


@router.post("/checkout", status_code=201)
async def checkout(body: Checkout) -> dict[str, str]:
    match = VAT_NUMBER.fullmatch(body.vat_number)
    if match is None:
        raise HTTPException(422, "This is no VAT number.")
    answer = await vies.ask(match["country"], match["number"])
    if answer is vies.Answer.INVALID:
        raise HTTPException(422, "The VAT number is not valid.")
    order = await orders.place(body.cart_id, recheck=answer is vies.Answer.UNKNOWN)
    return {"order": order.number}
