from tiny.m005 import f


def test_0():
    assert f(11) == 14


def test_1():
    assert f(5) == 8


def test_2():
    assert f(10) == 13


def test_3():
    assert f(0) == 3


def test_4():
    assert f(2) == 5


def test_5():
    assert f(4) == 7


def test_6():
    assert f(7) == 10


def test_7():
    assert f(3) == 6
