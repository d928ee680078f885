from fastapi import APIRouter, HTTPException
from pydantic import BaseModel

from auth import sessions, users

router = APIRouter()


class Credentials(BaseModel):
    email: str
    password: str


@router.post("/sign-in")
def sign_in(body: Credentials) -> dict[str, str]:
    user = users.check(body.email, body.password)
    if user is None:
        raise HTTPException(401, "The address or the password is wrong.")
    return {"token": sessions.start(user)}
