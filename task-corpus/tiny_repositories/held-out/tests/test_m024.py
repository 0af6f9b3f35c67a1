from tiny.m024 import f


def test_0():
    assert f(3) == 6


def test_1():
    assert f(7) == 11


def test_2():
    assert f(6) == 10


def test_3():
    assert f(4) == 8


def test_4():
    assert f(11) == 16


def test_5():
    assert f(1) == 4


def test_6():
    assert f(8) == 13


def test_7():
    assert f(9) == 14
