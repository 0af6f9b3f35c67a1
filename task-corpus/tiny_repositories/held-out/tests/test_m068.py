from tiny.m068 import f


def test_0():
    assert f(6) == 26


def test_1():
    assert f(12) == 32


def test_2():
    assert f(2) == 22


def test_3():
    assert f(3) == 23


def test_4():
    assert f(10) == 30


def test_5():
    assert f(0) == 20


def test_6():
    assert f(9) == 29


def test_7():
    assert f(8) == 28
