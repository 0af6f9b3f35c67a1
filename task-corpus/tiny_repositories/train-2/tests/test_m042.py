from tiny.m042 import f


def test_0():
    assert f(2) == [2, 3]


def test_1():
    assert f(3) == [3, 3]


def test_2():
    assert f(7) == [7, 3]


def test_3():
    assert f(11) == [11, 3]


def test_4():
    assert f(1) == [1, 3]


def test_5():
    assert f(8) == [8, 3]


def test_6():
    assert f(5) == [5, 3]


def test_7():
    assert f(10) == [10, 3]
