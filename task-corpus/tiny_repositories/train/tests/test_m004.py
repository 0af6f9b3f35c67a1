from tiny.m004 import f


def test_0():
    assert f(2) == 0


def test_1():
    assert f(3) == 0


def test_2():
    assert f(0) == 0


def test_3():
    assert f(5) == -9


def test_4():
    assert f(11) == -18


def test_5():
    assert f(12) == -27


def test_6():
    assert f(9) == -18


def test_7():
    assert f(6) == -9
