from tiny.m191 import f


def test_0():
    assert f([3, 0, 6]) == 18


def test_1():
    assert f([9, 2]) == 21


def test_2():
    assert f([9, 7, 9]) == 21


def test_3():
    assert f([9, 1, 3]) == 21


def test_4():
    assert f([3, 1]) == 15


def test_5():
    assert f([6, 7, 7, 8]) == 20


def test_6():
    assert f([6, 3]) == 18


def test_7():
    assert f([6, 6, 5]) == 18
