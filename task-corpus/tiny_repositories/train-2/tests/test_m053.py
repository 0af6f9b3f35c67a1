from tiny.m053 import f


def test_0():
    assert f(12) == [0, 1]


def test_1():
    assert f(4) == [0, 1, 2, 3]


def test_2():
    assert f(11) == [0]


def test_3():
    assert f(9) == [0, 1, 2, 3]


def test_4():
    assert f(3) == [0, 1, 2]


def test_5():
    assert f(2) == [0, 1]


def test_6():
    assert f(0) == []


def test_7():
    assert f(8) == [0, 1, 2]
