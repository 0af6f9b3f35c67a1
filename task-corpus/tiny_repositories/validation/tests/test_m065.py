from tiny.m065 import f


def test_0():
    assert f(0) == [0, 8]


def test_1():
    assert f(10) == [10, 18]


def test_2():
    assert f(7) == [7, 15]


def test_3():
    assert f(4) == [4, 12]


def test_4():
    assert f(6) == [6, 14]


def test_5():
    assert f(11) == [11, 19]


def test_6():
    assert f(5) == [5, 13]


def test_7():
    assert f(3) == [3, 11]
