from tiny.m057 import f


def test_0():
    assert f(9) == [13, 13, 13, 13]


def test_1():
    assert f(5) == [9, 9, 9, 9]


def test_2():
    assert f(3) == [7, 7, 7, 7]


def test_3():
    assert f(12) == [16, 16, 16, 16]


def test_4():
    assert f(6) == [10, 10, 10, 10]


def test_5():
    assert f(10) == [14, 14, 14, 14]


def test_6():
    assert f(11) == [15, 15, 15, 15]


def test_7():
    assert f(7) == [11, 11, 11, 11]
