from tiny.m185 import f


def test_0():
    assert f(12) == 37


def test_1():
    assert f(5) == 23


def test_2():
    assert f(6) == 25


def test_3():
    assert f(4) == 21


def test_4():
    assert f(8) == 29


def test_5():
    assert f(1) == 15


def test_6():
    assert f(3) == 19


def test_7():
    assert f(10) == 33
