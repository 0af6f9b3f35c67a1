from tiny.m114 import f


def test_0():
    assert f(7) == [256, 4]


def test_1():
    assert f(12) == [441, 4]


def test_2():
    assert f(5) == [196, 4]


def test_3():
    assert f(6) == [225, 4]


def test_4():
    assert f(1) == [100, 4]


def test_5():
    assert f(3) == [144, 4]


def test_6():
    assert f(2) == [121, 4]


def test_7():
    assert f(9) == [324, 4]
