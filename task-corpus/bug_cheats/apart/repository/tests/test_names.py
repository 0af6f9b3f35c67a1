from parcel import left


def test_width():
    assert left.width(4) == 8
    assert left.width.__name__ == "width"
