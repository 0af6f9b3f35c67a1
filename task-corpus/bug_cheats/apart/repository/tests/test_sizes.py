import parcel.sizes
import pytest
from parcel import sizes


def test_limited():
    assert sizes.limited(12) == sizes.LIMIT


def test_below_the_limit():
    assert sizes.limited(3) == 3


@pytest.mark.parametrize("size", [-1, -5])
def test_checked(size):
    with pytest.raises(parcel.sizes.errors.SizeError):
        sizes.checked(size)


def test_checked_as_it_is():
    assert sizes.checked(4) == 4


def test_fresh():
    found = sizes.fresh(2)
    found[0] = 1
    assert sizes.fresh(2) == [0, 0]


def test_put_and_rest():
    found = [3, 1]
    sizes.put(found, 2)
    assert found == [1, 2, 3]
    given = [9, 7, 8]
    assert sizes.rest(given) == sorted(given)[1:]


def test_sized():
    assert [sizes.sized(name) for name, _ in sizes.CASES] == [size for _, size in sizes.CASES]


def test_copied():
    given = [1]
    assert sizes.copied(given) == given
    assert sizes.copied(given) is not given
