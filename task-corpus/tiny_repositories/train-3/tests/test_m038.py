from tiny.m038 import f


def test_0():
    assert f(9) == 77


def test_1():
    assert f(5) == 41


def test_2():
    assert f(4) == 32


def test_3():
    assert f(3) == 23


def test_4():
    assert f(12) == 104


def test_5():
    assert f(8) == 68


def test_6():
    assert f(10) == 86


def test_7():
    assert f(2) == 14
