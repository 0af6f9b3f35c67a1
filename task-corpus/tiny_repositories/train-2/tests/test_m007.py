from tiny.m007 import f


def test_0():
    assert f(0) == 0


def test_1():
    assert f(1) == 0


def test_2():
    assert f(8) == 2


def test_3():
    assert f(4) == 1


def test_4():
    assert f(6) == 2


def test_5():
    assert f(7) == 2


def test_6():
    assert f(12) == 4


def test_7():
    assert f(11) == 3
