from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, Depends, HTTPException
from fastapi.responses import FileResponse

from app.auth import Customer, current_customer
from app.settings import settings

router = APIRouter()


def locate(root: Path, name: str) -> Path | None:
    """The file below root that a name leads to, or None."""
    root = root.resolve()
    try:
        wanted = (root / name).resolve()
        if not wanted.is_relative_to(root) or not wanted.is_file():
            return None
    except (OSError, ValueError):  # too long, or with a NUL
        return None
    return wanted


@router.get("/reports/{name:path}")
def download(name: str, customer: Customer = Depends(current_customer)) -> FileResponse:
    found = locate(settings.reports_dir / str(customer.id), name)
    if found is None:
        raise HTTPException(status_code=404, detail="There is no such report.")
    return FileResponse(found, media_type="application/pdf", headers={"Cache-Control": "private, no-store"})
