from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import BinaryIO

FFMPEG = "/usr/bin/ffmpeg"
TIMEOUT_SECONDS = 30
MAX_BYTES = 200 * 1024 * 1024
CHUNK = 1024 * 1024


class NoThumbnail(Exception):
    """The upload is too large, or no MP4 that ffmpeg can read."""


def _store(upload: BinaryIO, target: Path) -> None:
    left = MAX_BYTES
    with target.open("wb") as out:
        while chunk := upload.read(CHUNK):
            left -= len(chunk)
            if left < 0:
                raise NoThumbnail("the video is larger than 200 MiB")
            out.write(chunk)


def thumbnail(upload: BinaryIO) -> bytes:
    """A JPEG of the third second."""
    with tempfile.TemporaryDirectory(prefix="thumbnail-") as directory:
        video, image = Path(directory, "video"), Path(directory, "frame.jpg")
        _store(upload, video)
        command = [
            FFMPEG, "-nostdin", "-loglevel", "error", "-protocol_whitelist", "file",
            "-f", "mp4", "-ss", "3", "-i", str(video), "-frames:v", "1", "-vf", "scale=640:-2", str(image),
        ]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=TIMEOUT_SECONDS)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as err:
            raise NoThumbnail("the upload is no video that can be read") from err
        if not image.exists():
            raise NoThumbnail("the video is shorter than three seconds")
        return image.read_bytes()
