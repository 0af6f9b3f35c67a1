from tiny.m004 import f


def test_0():
    assert f(3) == [-1, 1]


def test_1():
    assert f(9) == [5, 7]


def test_2():
    assert f(6) == [2, 4]


def test_3():
    assert f(12) == [8, 10]


def test_4():
    assert f(4) == [0, 2]


def test_5():
    assert f(8) == [4, 6]


def test_6():
    assert f(2) == [-2, 0]


def test_7():
    assert f(7) == [3, 5]
