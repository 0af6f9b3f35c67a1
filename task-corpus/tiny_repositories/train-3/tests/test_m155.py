from tiny.m155 import f


def test_0():
    assert f(1) == 5


def test_1():
    assert f(0) == 5


def test_2():
    assert f(7) == 7


def test_3():
    assert f(3) == 5


def test_4():
    assert f(9) == 9


def test_5():
    assert f(10) == 10


def test_6():
    assert f(5) == 5


def test_7():
    assert f(11) == 11
