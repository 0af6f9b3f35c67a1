from tiny.m147 import f


def test_0():
    assert f(11) == 12


def test_1():
    assert f(8) == 9


def test_2():
    assert f(12) == 13


def test_3():
    assert f(5) == 6


def test_4():
    assert f(2) == 3


def test_5():
    assert f(1) == 2


def test_6():
    assert f(9) == 10


def test_7():
    assert f(4) == 5
