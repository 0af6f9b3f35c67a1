from tiny.m119 import f


def test_0():
    assert f(7) == 140


def test_1():
    assert f(4) == 80


def test_2():
    assert f(8) == 160


def test_3():
    assert f(12) == 240


def test_4():
    assert f(1) == 20


def test_5():
    assert f(3) == 60


def test_6():
    assert f(0) == 0


def test_7():
    assert f(11) == 220
