from tiny.m145 import f


def test_0():
    assert f(6) == [13, 22]


def test_1():
    assert f(4) == [15, 24]


def test_2():
    assert f(12) == [7, 16]


def test_3():
    assert f(5) == [14, 23]


def test_4():
    assert f(10) == [9, 18]


def test_5():
    assert f(8) == [11, 20]


def test_6():
    assert f(11) == [8, 17]


def test_7():
    assert f(9) == [10, 19]
