from tiny.m165 import f


def test_0():
    assert f(9) == 81


def test_1():
    assert f(10) == 100


def test_2():
    assert f(4) == 16


def test_3():
    assert f(12) == 144


def test_4():
    assert f(2) == 4


def test_5():
    assert f(0) == 0


def test_6():
    assert f(6) == 36


def test_7():
    assert f(8) == 64
