from checks import check
from parcel.weights import lightest


def test_lightest():
    check(lightest([5, 4]), 4)
