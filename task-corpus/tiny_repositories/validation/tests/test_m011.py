from tiny.m011 import f


def test_0():
    assert f(9) == [0, 2]


def test_1():
    assert f(0) == [0, 2]


def test_2():
    assert f(4) == [0, 2, 4, 6]


def test_3():
    assert f(3) == [0, 2, 4]


def test_4():
    assert f(2) == [0, 2]


def test_5():
    assert f(5) == [0, 2, 4, 6, 8]


def test_6():
    assert f(12) == [0, 2, 4, 6, 8]


def test_7():
    assert f(11) == [0, 2, 4, 6]
