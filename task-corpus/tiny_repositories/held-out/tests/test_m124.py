from tiny.m124 import f


def test_0():
    assert f(8) == [4, 12]


def test_1():
    assert f(3) == [9, 17]


def test_2():
    assert f(6) == [6, 14]


def test_3():
    assert f(2) == [10, 18]


def test_4():
    assert f(10) == [2, 10]


def test_5():
    assert f(9) == [3, 11]


def test_6():
    assert f(12) == [0, 8]


def test_7():
    assert f(0) == [12, 20]
