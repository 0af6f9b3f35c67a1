from tiny.m027 import f


def test_0():
    assert f(1) == [28, 28, 28]


def test_1():
    assert f(2) == [29, 29, 29]


def test_2():
    assert f(11) == [38, 38, 38]


def test_3():
    assert f(7) == [34, 34, 34]


def test_4():
    assert f(6) == [33, 33, 33]


def test_5():
    assert f(9) == [36, 36, 36]


def test_6():
    assert f(4) == [31, 31, 31]


def test_7():
    assert f(3) == [30, 30, 30]
