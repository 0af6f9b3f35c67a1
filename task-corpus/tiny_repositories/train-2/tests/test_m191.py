from tiny.m191 import f


def test_0():
    assert f(12) == 24


def test_1():
    assert f(7) == 19


def test_2():
    assert f(4) == 16


def test_3():
    assert f(9) == 21


def test_4():
    assert f(5) == 17


def test_5():
    assert f(8) == 20


def test_6():
    assert f(2) == 14


def test_7():
    assert f(10) == 22
