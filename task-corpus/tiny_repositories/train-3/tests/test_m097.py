from tiny.m097 import f


def test_0():
    assert f(2) == 15


def test_1():
    assert f(9) == 8


def test_2():
    assert f(0) == 17


def test_3():
    assert f(10) == 9


def test_4():
    assert f(7) == 10


def test_5():
    assert f(3) == 14


def test_6():
    assert f(12) == 11


def test_7():
    assert f(4) == 13
