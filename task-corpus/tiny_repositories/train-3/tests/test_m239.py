from tiny.m239 import f


def test_0():
    assert f(4) == [4, 1, 6]


def test_1():
    assert f(8) == [8, 1, 6]


def test_2():
    assert f(6) == [6, 1, 6]


def test_3():
    assert f(5) == [5, 1, 6]


def test_4():
    assert f(11) == [11, 1, 6]


def test_5():
    assert f(3) == [3, 1, 6]


def test_6():
    assert f(1) == [1, 1, 6]


def test_7():
    assert f(9) == [9, 1, 6]
