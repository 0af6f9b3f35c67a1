from tiny.m231 import f


def test_0():
    assert f(3) == 9


def test_1():
    assert f(9) == 33


def test_2():
    assert f(7) == 25


def test_3():
    assert f(8) == 29


def test_4():
    assert f(10) == 37


def test_5():
    assert f(11) == 41


def test_6():
    assert f(6) == 21


def test_7():
    assert f(1) == 6
