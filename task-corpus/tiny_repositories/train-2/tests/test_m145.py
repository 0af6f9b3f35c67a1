from tiny.m145 import f


def test_0():
    assert f(7) == 49


def test_1():
    assert f(4) == 16


def test_2():
    assert f(11) == 121


def test_3():
    assert f(6) == 36


def test_4():
    assert f(1) == 1


def test_5():
    assert f(2) == 4


def test_6():
    assert f(5) == 25


def test_7():
    assert f(10) == 100
