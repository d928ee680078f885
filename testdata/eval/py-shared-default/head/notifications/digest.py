from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

MAX_ENTRIES = 50


@dataclass(frozen=True)
class Entry:
    title: str
    url: str


class Digest:
    """What one person is told in one mail."""

    def __init__(
        self,
        recipient: str,
        entries: list[Entry] = [],
    ) -> None:
        self.recipient = recipient
        self.entries = entries
        self.left_out = 0

    def add(self, entry: Entry) -> None:
        if len(self.entries) >= MAX_ENTRIES:
            self.left_out += 1
            return
        self.entries.append(entry)

    def subject(self) -> str:
        count = len(self.entries) + self.left_out
        return "1 notification" if count == 1 else f"{count} notifications"


def digests(notifications: Iterable[tuple[str, Entry]]) -> list[Digest]:
    by_recipient: dict[str, Digest] = {}
    for recipient, entry in notifications:
        digest = by_recipient.setdefault(recipient, Digest(recipient))
        digest.add(entry)
    return list(by_recipient.values())
