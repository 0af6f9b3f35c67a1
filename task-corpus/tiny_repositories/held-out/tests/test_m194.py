from tiny.m194 import f


def test_0():
    assert f(5) == [5, -1]


def test_1():
    assert f(7) == [5, -3]


def test_2():
    assert f(12) == [5, -8]


def test_3():
    assert f(0) == [5, 4]


def test_4():
    assert f(4) == [5, 0]


def test_5():
    assert f(10) == [5, -6]


def test_6():
    assert f(2) == [5, 2]


def test_7():
    assert f(3) == [5, 1]
