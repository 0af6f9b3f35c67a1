from tiny.m042 import f


def test_0():
    assert f(8) == 28


def test_1():
    assert f(7) == 25


def test_2():
    assert f(2) == 10


def test_3():
    assert f(11) == 37


def test_4():
    assert f(9) == 31


def test_5():
    assert f(5) == 19


def test_6():
    assert f(1) == 7


def test_7():
    assert f(10) == 34
