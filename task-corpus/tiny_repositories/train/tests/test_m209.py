from tiny.m209 import f


def test_0():
    assert f(8) == 31


def test_1():
    assert f(11) == 40


def test_2():
    assert f(2) == 13


def test_3():
    assert f(0) == 7


def test_4():
    assert f(4) == 19


def test_5():
    assert f(1) == 10


def test_6():
    assert f(12) == 43


def test_7():
    assert f(3) == 16
