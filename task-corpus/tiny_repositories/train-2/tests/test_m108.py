from tiny.m108 import f


def test_0():
    assert f(5) == 14


def test_1():
    assert f(6) == [6, 3]


def test_2():
    assert f(1) == 10


def test_3():
    assert f(9) == 18


def test_4():
    assert f(3) == 12


def test_5():
    assert f(10) == [10, 3]


def test_6():
    assert f(12) == [12, 3]


def test_7():
    assert f(7) == 16
