import pytest
from parcel import sizes

FRESH = sizes.fresh(3)


@pytest.mark.parametrize(("name", "size"), sizes.CASES)
def test_limited(name, size):
    assert sizes.limited(size + len(name)) == size + 1


def test_fresh():
    assert FRESH == [0, 0, 0]
    assert sizes.fresh(1) == [0]
