from tiny.m099 import f


def test_0():
    assert f(6) == [6, 15]


def test_1():
    assert f(11) == [11, 20]


def test_2():
    assert f(8) == [8, 17]


def test_3():
    assert f(7) == [7, 16]


def test_4():
    assert f(1) == [1, 10]


def test_5():
    assert f(12) == [12, 21]


def test_6():
    assert f(10) == [10, 19]


def test_7():
    assert f(2) == [2, 11]
