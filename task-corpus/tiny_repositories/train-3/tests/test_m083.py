from tiny.m083 import f


def test_0():
    assert f(0) == 0


def test_1():
    assert f(5) == 2


def test_2():
    assert f(10) == 5


def test_3():
    assert f(7) == 3


def test_4():
    assert f(8) == 4


def test_5():
    assert f(12) == 6


def test_6():
    assert f(9) == 4


def test_7():
    assert f(2) == 1
