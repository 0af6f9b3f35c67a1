from tiny.m158 import f


def test_0():
    assert f(2) == [2, -2]


def test_1():
    assert f(0) == [2, -4]


def test_2():
    assert f(5) == [2, 1]


def test_3():
    assert f(11) == [2, 7]


def test_4():
    assert f(6) == [2, 2]


def test_5():
    assert f(8) == [2, 4]


def test_6():
    assert f(1) == [2, -3]


def test_7():
    assert f(3) == [2, -1]
