from fastapi import APIRouter, Depends, HTTPException, Request
from pydantic import BaseModel

from auth import client, limit, sessions, users
from app.redis import Redis, redis

router = APIRouter()


class Credentials(BaseModel):
    email: str
    password: str


@router.post("/sign-in")
def sign_in(body: Credentials, request: Request, store: Redis = Depends(redis)) -> dict[str, str]:
    network = client.network(client.address(request))
    if not limit.allowed(store, network):
        raise HTTPException(429, "Too many tries. Wait a quarter of an hour.")
    user = users.check(body.email, body.password)
    if user is None:
        raise HTTPException(401, "The address or the password is wrong.")
    limit.forget(store, network)
    return {"token": sessions.start(user)}
