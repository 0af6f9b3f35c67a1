from tiny.m133 import f


def test_0():
    assert f(2) == 4


def test_1():
    assert f(3) == 5


def test_2():
    assert f(10) == 12


def test_3():
    assert f(6) == 8


def test_4():
    assert f(8) == 10


def test_5():
    assert f(12) == 14


def test_6():
    assert f(0) == 2


def test_7():
    assert f(1) == 3
