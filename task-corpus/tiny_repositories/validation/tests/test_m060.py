from tiny.m060 import f


def test_0():
    assert f(5) == 36


def test_1():
    assert f(11) == 9


def test_2():
    assert f(3) == 16


def test_3():
    assert f(12) == 16


def test_4():
    assert f(10) == 4


def test_5():
    assert f(6) == 49


def test_6():
    assert f(2) == 9


def test_7():
    assert f(9) == 1
