import collections

from parcel import counts


def test_commonest():
    found = collections.Counter("abb")
    assert counts.commonest(found) == list(found)[1]


def test_commonest_of_one():
    assert counts.commonest(collections.Counter("a")) == "a"
