from tiny.m132 import f


def test_0():
    assert f(1) == [1, 4]


def test_1():
    assert f(12) == [12, 4]


def test_2():
    assert f(4) == [4, 4]


def test_3():
    assert f(8) == [8, 4]


def test_4():
    assert f(9) == [9, 4]


def test_5():
    assert f(3) == [3, 4]


def test_6():
    assert f(7) == [7, 4]


def test_7():
    assert f(5) == [5, 4]
