from tiny.m116 import f


def test_0():
    assert f(6) == [6, 0]


def test_1():
    assert f(4) == [6, 4]


def test_2():
    assert f(5) == [6, 5]


def test_3():
    assert f(12) == [6, 0]


def test_4():
    assert f(8) == [6, 2]


def test_5():
    assert f(9) == [6, 3]


def test_6():
    assert f(1) == [6, 1]


def test_7():
    assert f(0) == [6, 0]
