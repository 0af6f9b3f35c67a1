from tiny.m179 import f


def test_0():
    assert f(12) == [9, 12]


def test_1():
    assert f(8) == [8, 9]


def test_2():
    assert f(6) == [6, 9]


def test_3():
    assert f(10) == [9, 10]


def test_4():
    assert f(3) == [3, 9]


def test_5():
    assert f(4) == [4, 9]


def test_6():
    assert f(11) == [9, 11]


def test_7():
    assert f(5) == [5, 9]
