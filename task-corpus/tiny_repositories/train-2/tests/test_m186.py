from tiny.m186 import f


def test_0():
    assert f(1) == 10


def test_1():
    assert f(12) == 15


def test_2():
    assert f(11) == 20


def test_3():
    assert f(0) == 9


def test_4():
    assert f(8) == 13


def test_5():
    assert f(5) == 14


def test_6():
    assert f(2) == 10


def test_7():
    assert f(6) == 12
