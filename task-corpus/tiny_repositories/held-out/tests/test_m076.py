from tiny.m076 import f


def test_0():
    assert f(5) == 5


def test_1():
    assert f(7) == 1


def test_2():
    assert f(0) == 15


def test_3():
    assert f(2) == 11


def test_4():
    assert f(8) == -1


def test_5():
    assert f(10) == -5


def test_6():
    assert f(6) == 3


def test_7():
    assert f(4) == 7
