from tiny.m217 import f


def test_0():
    assert f(7) == [7, 5]


def test_1():
    assert f(5) == [5, 5]


def test_2():
    assert f(12) == [12, 5]


def test_3():
    assert f(4) == [4, 5]


def test_4():
    assert f(8) == [8, 5]


def test_5():
    assert f(3) == [3, 5]


def test_6():
    assert f(1) == [1, 5]


def test_7():
    assert f(0) == [0, 5]
