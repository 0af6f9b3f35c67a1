from tiny.m004 import f


def test_0():
    assert f(11) == 16


def test_1():
    assert f(3) == 36


def test_2():
    assert f(0) == 36


def test_3():
    assert f(12) == 36


def test_4():
    assert f(5) == 1


def test_5():
    assert f(9) == 0


def test_6():
    assert f(6) == 9


def test_7():
    assert f(7) == 25
