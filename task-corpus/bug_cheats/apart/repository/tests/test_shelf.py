import pytest
from parcel import shelf
from parcel.shelf import Shelf


def shelf_of(path, text):
    path.write_text(text)
    return Shelf(str(path))


def test_names(tmp_path):
    assert shelf_of(tmp_path / "a", "one\n two \n").names() == ["one", "two"]


def test_blank_lines(tmp_path):
    assert shelf_of(tmp_path / "b", "one\n\n\n").names() == ["one"]


@pytest.mark.skipif(not shelf.SORTED, reason="not sorted")
def test_sorted(tmp_path):
    assert shelf_of(tmp_path / "c", "a\nb\n").names() == sorted(["b", "a"])
