from tiny.m093 import f


def test_0():
    assert f(0) == 2


def test_1():
    assert f(8) == 1


def test_2():
    assert f(4) == 2


def test_3():
    assert f(2) == 2


def test_4():
    assert f(7) == 4


def test_5():
    assert f(10) == 0


def test_6():
    assert f(5) == 2


def test_7():
    assert f(11) == 2
