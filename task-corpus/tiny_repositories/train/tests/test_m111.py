from tiny.m111 import f


def test_0():
    assert f(9) == [7, 13, 3]


def test_1():
    assert f(3) == [7, 7, 3]


def test_2():
    assert f(5) == [7, 9, 3]


def test_3():
    assert f(11) == [7, 15, 3]


def test_4():
    assert f(4) == [7, 8, 3]


def test_5():
    assert f(6) == [7, 10, 3]


def test_6():
    assert f(7) == [7, 11, 3]


def test_7():
    assert f(8) == [7, 12, 3]
