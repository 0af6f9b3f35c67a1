from tiny.m062 import f


def test_0():
    assert f(3) == 17


def test_1():
    assert f(2) == 12


def test_2():
    assert f(5) == 27


def test_3():
    assert f(11) == 57


def test_4():
    assert f(10) == 52


def test_5():
    assert f(6) == 32


def test_6():
    assert f(7) == 37


def test_7():
    assert f(1) == 7
