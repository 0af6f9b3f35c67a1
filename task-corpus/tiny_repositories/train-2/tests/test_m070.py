from tiny.m070 import f


def test_0():
    assert f(3) == 4


def test_1():
    assert f(10) == 3


def test_2():
    assert f(9) == 2


def test_3():
    assert f(2) == 5


def test_4():
    assert f(11) == 4


def test_5():
    assert f(5) == 2


def test_6():
    assert f(0) == 7


def test_7():
    assert f(4) == 3
