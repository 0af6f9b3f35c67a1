from tiny.m178 import f


def test_0():
    assert f(0) == [2, 2]


def test_1():
    assert f(10) == [12, 12]


def test_2():
    assert f(1) == [3, 3]


def test_3():
    assert f(12) == [14, 14]


def test_4():
    assert f(7) == [9, 9]


def test_5():
    assert f(4) == [6, 6]


def test_6():
    assert f(2) == [4, 4]


def test_7():
    assert f(8) == [10, 10]
