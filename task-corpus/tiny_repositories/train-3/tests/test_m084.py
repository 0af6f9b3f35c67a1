from tiny.m084 import f


def test_0():
    assert f(10) == -1


def test_1():
    assert f(5) == 4


def test_2():
    assert f(8) == 1


def test_3():
    assert f(12) == -3


def test_4():
    assert f(2) == 7


def test_5():
    assert f(7) == 2


def test_6():
    assert f(1) == 8


def test_7():
    assert f(11) == -2
