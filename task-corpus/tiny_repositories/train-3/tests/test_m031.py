from tiny.m031 import f


def test_0():
    assert f(4) == 1


def test_1():
    assert f(1) == 0


def test_2():
    assert f(11) == 3


def test_3():
    assert f(12) == 3


def test_4():
    assert f(3) == 1


def test_5():
    assert f(2) == 1


def test_6():
    assert f(10) == 3


def test_7():
    assert f(6) == 2
