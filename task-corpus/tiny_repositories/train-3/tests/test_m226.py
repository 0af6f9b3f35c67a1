from tiny.m226 import f


def test_0():
    assert f(9) == [2, 1, 0]


def test_1():
    assert f(2) == [1, 0]


def test_2():
    assert f(12) == []


def test_3():
    assert f(7) == [0]


def test_4():
    assert f(6) == []


def test_5():
    assert f(4) == [3, 2, 1, 0]


def test_6():
    assert f(5) == [4, 3, 2, 1, 0]


def test_7():
    assert f(1) == [0]
