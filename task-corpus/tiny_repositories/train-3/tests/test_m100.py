from tiny.m100 import f


def test_0():
    assert f(9) == [3, 5]


def test_1():
    assert f(1) == [3, -3]


def test_2():
    assert f(10) == [3, 6]


def test_3():
    assert f(0) == [3, -4]


def test_4():
    assert f(8) == [3, 4]


def test_5():
    assert f(12) == [3]


def test_6():
    assert f(11) == [3]


def test_7():
    assert f(3) == [3, -1]
