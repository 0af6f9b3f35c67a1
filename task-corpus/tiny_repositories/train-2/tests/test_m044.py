from tiny.m044 import f


def test_0():
    assert f(1) == 0


def test_1():
    assert f(3) == 1


def test_2():
    assert f(9) == 4


def test_3():
    assert f(11) == 5


def test_4():
    assert f(12) == 6


def test_5():
    assert f(10) == 5


def test_6():
    assert f(0) == 0


def test_7():
    assert f(6) == 3
