from tiny.m083 import f


def test_0():
    assert f(6) == 9


def test_1():
    assert f(1) == 7


def test_2():
    assert f(11) == 9


def test_3():
    assert f(5) == 9


def test_4():
    assert f(7) == 9


def test_5():
    assert f(0) == 6


def test_6():
    assert f(2) == 8


def test_7():
    assert f(8) == 9
