from tiny.m179 import f


def test_0():
    assert f(7) == [3, 2, 2]


def test_1():
    assert f(8) == [0, 3, 1, 2]


def test_2():
    assert f(12) == [0, 3, 1, 2]


def test_3():
    assert f(6) == [2, 1, 2]


def test_4():
    assert f(3) == [3, 2, 2]


def test_5():
    assert f(9) == [1, 0, 1, 2]


def test_6():
    assert f(11) == [3, 2, 1, 2]


def test_7():
    assert f(5) == [1, 0, 2]
