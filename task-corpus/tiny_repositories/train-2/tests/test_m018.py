from tiny.m018 import f


def test_0():
    assert f(3) == 98


def test_1():
    assert f(0) == 77


def test_2():
    assert f(11) == 154


def test_3():
    assert f(5) == 112


def test_4():
    assert f(9) == 140


def test_5():
    assert f(8) == 133


def test_6():
    assert f(12) == 161


def test_7():
    assert f(7) == 126
