from tiny.m020 import f


def test_0():
    assert f(11) == [7, 11]


def test_1():
    assert f(3) == [7, 3]


def test_2():
    assert f(12) == [7, 12]


def test_3():
    assert f(1) == [7, 1]


def test_4():
    assert f(0) == [7, 0]


def test_5():
    assert f(4) == [7, 4]


def test_6():
    assert f(6) == [7, 6]


def test_7():
    assert f(5) == [7, 5]
