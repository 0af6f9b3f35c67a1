from tiny.m130 import f


def test_0():
    assert f(3) == 5


def test_1():
    assert f(4) == 5


def test_2():
    assert f(9) == 8


def test_3():
    assert f(1) == 4


def test_4():
    assert f(8) == 7


def test_5():
    assert f(0) == 3


def test_6():
    assert f(2) == 4


def test_7():
    assert f(7) == 7
