from tiny.m023 import f


def test_0():
    assert f(12) == 11032


def test_1():
    assert f(7) == 6552


def test_2():
    assert f(1) == 2072


def test_3():
    assert f(8) == 7448


def test_4():
    assert f(11) == 10136


def test_5():
    assert f(4) == 3864


def test_6():
    assert f(10) == 9240


def test_7():
    assert f(9) == 8344
