from tiny.m010 import f


def test_0():
    assert f(5) == 2


def test_1():
    assert f(6) == 3


def test_2():
    assert f(8) == 5


def test_3():
    assert f(0) == -3


def test_4():
    assert f(11) == 8


def test_5():
    assert f(4) == 1


def test_6():
    assert f(1) == -2


def test_7():
    assert f(2) == -1
