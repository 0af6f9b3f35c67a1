from parcel.lazy import each


def test_asks_for_nothing_yet():
    asked = []
    each(asked.append(label) for label in "ab")
    assert asked == []
