from tiny.m080 import f


def test_0():
    assert f(10) == 11


def test_1():
    assert f(7) == 8


def test_2():
    assert f(6) == 7


def test_3():
    assert f(2) == 3


def test_4():
    assert f(4) == 5


def test_5():
    assert f(1) == 2


def test_6():
    assert f(3) == 4


def test_7():
    assert f(9) == 10
