from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, Depends, HTTPException
from fastapi.responses import FileResponse

from app.auth import Customer, current_customer
from app.settings import settings

router = APIRouter()


def locate(customer: Customer, name: str) -> Path:
    """The file of a customer's report, which must be in their directory."""
    root = (settings.reports_dir / str(customer.id)).resolve()
    wanted = (root / name).resolve()
    if not str(wanted).startswith(str(root)):
        raise HTTPException(status_code=404, detail="There is no such report.")
    if not wanted.is_file():
        raise HTTPException(status_code=404, detail="There is no such report.")
    return wanted


@router.get("/reports/{name:path}")
def download(name: str, customer: Customer = Depends(current_customer)) -> FileResponse:
    return FileResponse(
        locate(customer, name),
        media_type="application/pdf",
        headers={"Cache-Control": "private, no-store"},
    )
