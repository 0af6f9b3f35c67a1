from tiny.m215 import f


def test_0():
    assert f(11) == [7, 8, 9, 10, 11]


def test_1():
    assert f(3) == [7, 8, 9]


def test_2():
    assert f(8) == [7, 8]


def test_3():
    assert f(12) == []


def test_4():
    assert f(9) == [7, 8, 9]


def test_5():
    assert f(10) == [7, 8, 9, 10]


def test_6():
    assert f(0) == []


def test_7():
    assert f(5) == [7, 8, 9, 10, 11]
