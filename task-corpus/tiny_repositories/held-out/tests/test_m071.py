from tiny.m071 import f


def test_0():
    assert f(3) == 4


def test_1():
    assert f(9) == 3


def test_2():
    assert f(6) == 6


def test_3():
    assert f(4) == 3


def test_4():
    assert f(1) == 6


def test_5():
    assert f(8) == 4


def test_6():
    assert f(12) == 5


def test_7():
    assert f(0) == 2
