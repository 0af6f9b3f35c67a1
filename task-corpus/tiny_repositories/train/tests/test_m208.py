from tiny.m208 import f


def test_0():
    assert f(4) == 72


def test_1():
    assert f(10) == 144


def test_2():
    assert f(3) == 60


def test_3():
    assert f(5) == 84


def test_4():
    assert f(1) == 36


def test_5():
    assert f(12) == 168


def test_6():
    assert f(9) == 132


def test_7():
    assert f(7) == 108
