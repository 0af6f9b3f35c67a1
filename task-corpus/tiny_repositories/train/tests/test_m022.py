from tiny.m022 import f


def test_0():
    assert f(8) == [4, 4, 4, 0]


def test_1():
    assert f(11) == [7, 7, 7, 0]


def test_2():
    assert f(5) == [1, 1, 1, 0]


def test_3():
    assert f(7) == [3, 3, 3, 0]


def test_4():
    assert f(10) == [6, 6, 6, 0]


def test_5():
    assert f(1) == [3, 3, 3, 0]


def test_6():
    assert f(3) == [1, 1, 1, 0]


def test_7():
    assert f(4) == [0, 0, 0, 0]
