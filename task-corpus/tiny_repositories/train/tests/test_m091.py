from tiny.m091 import f


def test_0():
    assert f(9) == [4, 9, 4]


def test_1():
    assert f(3) == [4, 3, 4]


def test_2():
    assert f(11) == [4, 11, 4]


def test_3():
    assert f(4) == [4, 4, 4]


def test_4():
    assert f(1) == [4, 1, 4]


def test_5():
    assert f(7) == [4, 7, 4]


def test_6():
    assert f(12) == [4, 12, 4]


def test_7():
    assert f(0) == [4, 0, 4]
