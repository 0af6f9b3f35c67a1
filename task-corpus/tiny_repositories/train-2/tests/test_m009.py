from tiny.m009 import f


def test_0():
    assert f(1) == 0


def test_1():
    assert f(12) == 9


def test_2():
    assert f(3) == 0


def test_3():
    assert f(11) == 4


def test_4():
    assert f(10) == 4


def test_5():
    assert f(7) == 1


def test_6():
    assert f(5) == 1


def test_7():
    assert f(6) == 1
