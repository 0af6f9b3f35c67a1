from tiny.m160 import f


def test_0():
    assert f(7) == -2


def test_1():
    assert f(2) == -7


def test_2():
    assert f(5) == -4


def test_3():
    assert f(1) == -8


def test_4():
    assert f(6) == -3


def test_5():
    assert f(3) == -6


def test_6():
    assert f(0) == -9


def test_7():
    assert f(8) == -1
