from parcel import left, right


def test_left():
    assert left.width(3) == 6


def test_right():
    assert left.width(1) == right.width(1) == 2
