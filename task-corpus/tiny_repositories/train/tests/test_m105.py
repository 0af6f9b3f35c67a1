from tiny.m105 import f


def test_0():
    assert f(8) == 22


def test_1():
    assert f(6) == 20


def test_2():
    assert f(11) == 25


def test_3():
    assert f(4) == 18


def test_4():
    assert f(10) == 24


def test_5():
    assert f(7) == 21


def test_6():
    assert f(2) == 16


def test_7():
    assert f(9) == 23
