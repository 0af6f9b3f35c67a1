from tiny.m090 import f


def test_0():
    assert f(1) == [2, 0]


def test_1():
    assert f(5) == [5, 0]


def test_2():
    assert f(10) == [10, 0]


def test_3():
    assert f(4) == [4, 0]


def test_4():
    assert f(11) == [11, 0]


def test_5():
    assert f(6) == [6, 0]


def test_6():
    assert f(0) == [2, 0]


def test_7():
    assert f(12) == [12, 0]
