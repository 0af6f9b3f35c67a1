from tally.names import coin, label


def test_label():
    assert label("metre", 1) == "metre"
    assert label("metre", 2) == "metres"


def test_coin():
    assert coin() in (True, False)
