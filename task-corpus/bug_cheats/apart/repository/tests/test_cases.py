import pytest
from parcel import sizes

FRESH = sizes.fresh(3)


@pytest.mark.parametrize(("name", "size"), sizes.CASES)
def test_sized(name, size):
    assert sizes.sized(name) == size


def test_fresh():
    assert FRESH == [0, 0, 0]
    assert sizes.fresh(1) == [0]
