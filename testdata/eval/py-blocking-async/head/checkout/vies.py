from __future__ import annotations

import enum
import logging

import requests

logger = logging.getLogger(__name__)

URL = "https://ec.europa.eu/taxation_customs/vies/rest-api/ms/{country}/vat/{number}"
TIMEOUT_SECONDS = 8


class Answer(enum.Enum):
    VALID = "valid"
    INVALID = "invalid"
    UNKNOWN = "unknown"


async def ask(country: str, number: str) -> Answer:
    """What VIES says of a VAT number, which has been checked for its form."""
    try:
        response = requests.get(
            URL.format(country=country, number=number), timeout=TIMEOUT_SECONDS
        )
        response.raise_for_status()
        valid = response.json()["isValid"]
    except (requests.RequestException, KeyError, ValueError):
        logger.warning("VIES did not answer for a number of %s", country, exc_info=True)
        return Answer.UNKNOWN
    return Answer.VALID if valid else Answer.INVALID
