from parcel.kinds import asks_for_its_class


def test_box():
    assert asks_for_its_class("Box") is False
