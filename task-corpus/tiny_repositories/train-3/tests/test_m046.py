from tiny.m046 import f


def test_0():
    assert f(6) == 9


def test_1():
    assert f(4) == 11


def test_2():
    assert f(9) == 6


def test_3():
    assert f(11) == 4


def test_4():
    assert f(5) == 10


def test_5():
    assert f(10) == 5


def test_6():
    assert f(0) == 15


def test_7():
    assert f(1) == 14
