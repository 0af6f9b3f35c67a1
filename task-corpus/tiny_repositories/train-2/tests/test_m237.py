from tiny.m237 import f


def test_0():
    assert f(2) == 6


def test_1():
    assert f(0) == 4


def test_2():
    assert f(12) == 6


def test_3():
    assert f(8) == 7


def test_4():
    assert f(10) == 4


def test_5():
    assert f(3) == 7


def test_6():
    assert f(5) == 4


def test_7():
    assert f(4) == 8
