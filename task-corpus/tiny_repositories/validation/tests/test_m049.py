from tiny.m049 import f


def test_0():
    assert f(11) == 9


def test_1():
    assert f(7) == 5


def test_2():
    assert f(6) == 4


def test_3():
    assert f(0) == 2


def test_4():
    assert f(2) == 0


def test_5():
    assert f(1) == 1


def test_6():
    assert f(3) == 1


def test_7():
    assert f(8) == 6
