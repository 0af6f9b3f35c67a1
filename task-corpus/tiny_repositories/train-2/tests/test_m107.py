from tiny.m107 import f


def test_0():
    assert f(8) == [8, 4]


def test_1():
    assert f(4) == [4, 4]


def test_2():
    assert f(9) == [9, 4]


def test_3():
    assert f(6) == [6, 4]


def test_4():
    assert f(2) == [2, 4]


def test_5():
    assert f(3) == [3, 4]


def test_6():
    assert f(10) == [10, 4]


def test_7():
    assert f(12) == [12, 4]
