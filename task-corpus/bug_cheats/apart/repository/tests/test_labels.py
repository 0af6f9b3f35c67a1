import pytest
from parcel import labels


def test_ordered():
    given = ["b", "a"]
    assert labels.ordered(given) == sorted(given)


def test_grams():
    assert labels.grams_on("70000 g") == 70000


def test_checked():
    with pytest.raises(labels.LabelError):
        labels.checked("")


def test_checked_as_it_is():
    assert labels.checked("a") == "a"


def test_quoted():
    assert eval(labels.quoted("it's")) == "it's"


def test_copied():
    given = ["a"]
    assert labels.copied(given) is not given
