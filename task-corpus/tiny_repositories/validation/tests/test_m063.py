from tiny.m063 import f


def test_0():
    assert f(9) == [46, 49]


def test_1():
    assert f(1) == [6, 9]


def test_2():
    assert f(0) == [1, 4]


def test_3():
    assert f(6) == [31, 34]


def test_4():
    assert f(4) == [21, 24]


def test_5():
    assert f(8) == [41, 44]


def test_6():
    assert f(10) == [51, 54]


def test_7():
    assert f(12) == [61, 64]
