import io

import pytest

from media.thumbnail import NoThumbnail, thumbnail


def test_what_is_no_video_is_refused():
    with pytest.raises(NoThumbnail):
        thumbnail(io.BytesIO(b"not a video"))
