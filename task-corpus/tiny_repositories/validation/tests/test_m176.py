from tiny.m176 import f


def test_0():
    assert f(4) == [5, 6]


def test_1():
    assert f(12) == [5, 12]


def test_2():
    assert f(10) == [5, 10]


def test_3():
    assert f(5) == [5, 6]


def test_4():
    assert f(7) == [5, 7]


def test_5():
    assert f(2) == [5, 6]


def test_6():
    assert f(6) == [5, 6]


def test_7():
    assert f(11) == [5, 11]
