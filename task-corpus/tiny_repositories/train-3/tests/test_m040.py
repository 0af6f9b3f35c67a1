from tiny.m040 import f


def test_0():
    assert f(2) == 0


def test_1():
    assert f(9) == 27


def test_2():
    assert f(7) == 23


def test_3():
    assert f(1) == 1


def test_4():
    assert f(6) == 21


def test_5():
    assert f(11) == 31


def test_6():
    assert f(12) == 33


def test_7():
    assert f(5) == 19
