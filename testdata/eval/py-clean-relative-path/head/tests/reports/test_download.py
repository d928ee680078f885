import pytest

from reports.download import locate


@pytest.fixture
def root(tmp_path):
    (tmp_path / "1").mkdir()
    (tmp_path / "17").mkdir()
    (tmp_path / "1" / "july.pdf").write_bytes(b"%PDF")
    (tmp_path / "17" / "secret.pdf").write_bytes(b"%PDF")
    (tmp_path / "1" / "link.pdf").symlink_to(tmp_path / "17" / "secret.pdf")
    return tmp_path / "1"


def test_own_report(root):
    assert locate(root, "july.pdf") == (root / "july.pdf").resolve()


@pytest.mark.parametrize("name", ["../17/secret.pdf", "link.pdf", "/etc/passwd", "", ".", "a\0b", "a" * 300, "none.pdf"])
def test_anything_else_is_not_there(root, name):
    assert locate(root, name) is None
