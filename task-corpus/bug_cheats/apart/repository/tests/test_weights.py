from parcel.weights import heaviest, in_grams, lightest, scaled


def test_one_gram():
    assert in_grams(1, "gram") == 1


def test_two_pounds():
    assert in_grams(2, "pound") == 908


def test_deca():
    assert scaled(2, "deca") == 20


def test_kilo():
    assert scaled(2, "kilo") == 2000


def test_heaviest():
    assert heaviest([2, 3, 1]) == 3


def test_lightest():
    assert lightest([2, 3, 1]) == 1
