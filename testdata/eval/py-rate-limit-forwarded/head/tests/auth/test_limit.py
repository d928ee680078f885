import fakeredis

from auth import limit


def test_the_eleventh_try_is_refused():
    redis = fakeredis.FakeRedis()
    tries = [limit.allowed(redis, "192.0.2.7") for _ in range(11)]
    assert tries == [True] * 10 + [False]


def test_others_are_not_held_up():
    redis = fakeredis.FakeRedis()
    for _ in range(11):
        limit.allowed(redis, "192.0.2.7")
    assert limit.allowed(redis, "192.0.2.8")


def test_signing_in_begins_anew():
    redis = fakeredis.FakeRedis()
    for _ in range(10):
        limit.allowed(redis, "192.0.2.7")
    limit.forget(redis, "192.0.2.7")
    assert limit.allowed(redis, "192.0.2.7")
