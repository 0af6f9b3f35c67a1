from tiny.m231 import f


def test_0():
    assert f(2) == 6


def test_1():
    assert f(1) == 2


def test_2():
    assert f(5) == 4


def test_3():
    assert f(9) == 6


def test_4():
    assert f(4) == 0


def test_5():
    assert f(0) == 5


def test_6():
    assert f(12) == 4


def test_7():
    assert f(10) == 3
