from __future__ import annotations

from redis import Redis

WINDOW_SECONDS = 15 * 60
MAX_TRIES = 10


def allowed(redis: Redis, network: str) -> bool:
    """Counts a try to sign in, and says whether it may be made."""
    key = f"sign-in:{network}"
    count = redis.incr(key)
    if count == 1:
        redis.expire(key, WINDOW_SECONDS)
    return count <= MAX_TRIES


def forget(redis: Redis, network: str) -> None:
    """Who has signed in begins anew."""
    redis.delete(f"sign-in:{network}")
