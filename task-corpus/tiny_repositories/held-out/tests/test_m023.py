from tiny.m023 import f


def test_0():
    assert f(3) == [3, 2]


def test_1():
    assert f(2) == [2, 2]


def test_2():
    assert f(8) == [8, 2]


def test_3():
    assert f(6) == [6, 2]


def test_4():
    assert f(1) == [1, 2]


def test_5():
    assert f(9) == [9, 2]


def test_6():
    assert f(5) == [5, 2]


def test_7():
    assert f(4) == [4, 2]
