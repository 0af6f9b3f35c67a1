from tiny.m055 import f


def test_0():
    assert f(3) == 10


def test_1():
    assert f(8) == 25


def test_2():
    assert f(9) == 28


def test_3():
    assert f(12) == 37


def test_4():
    assert f(11) == 34


def test_5():
    assert f(4) == 13


def test_6():
    assert f(2) == 7


def test_7():
    assert f(1) == 4
