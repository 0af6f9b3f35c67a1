from tiny.m091 import f


def test_0():
    assert f(6) == 6


def test_1():
    assert f(3) == 0


def test_2():
    assert f(5) == 7


def test_3():
    assert f(12) == 0


def test_4():
    assert f(1) == 2


def test_5():
    assert f(0) == 3


def test_6():
    assert f(10) == 2


def test_7():
    assert f(2) == 1
