from tiny.m230 import f


def test_0():
    assert f(0) == 6


def test_1():
    assert f(2) == 8


def test_2():
    assert f(8) == 14


def test_3():
    assert f(12) == 18


def test_4():
    assert f(6) == 12


def test_5():
    assert f(4) == 10


def test_6():
    assert f(10) == 16


def test_7():
    assert f(5) == 11
