from tiny.m164 import f


def test_0():
    assert f(12) == 19


def test_1():
    assert f(3) == 15


def test_2():
    assert f(4) == 16


def test_3():
    assert f(8) == 20


def test_4():
    assert f(11) == 18


def test_5():
    assert f(2) == 14


def test_6():
    assert f(6) == 18


def test_7():
    assert f(0) == 12
