from tiny.m193 import f


def test_0():
    assert f(0) == 6


def test_1():
    assert f(7) == 34


def test_2():
    assert f(1) == 10


def test_3():
    assert f(8) == 38


def test_4():
    assert f(12) == 54


def test_5():
    assert f(2) == 14


def test_6():
    assert f(9) == 42


def test_7():
    assert f(4) == 22
