from tiny.m094 import f


def test_0():
    assert f(0) == -1


def test_1():
    assert f(6) == -4


def test_2():
    assert f(3) == 2


def test_3():
    assert f(4) == 3


def test_4():
    assert f(12) == [3, 12]


def test_5():
    assert f(10) == [3, 10]


def test_6():
    assert f(7) == -3


def test_7():
    assert f(11) == [3, 11]
