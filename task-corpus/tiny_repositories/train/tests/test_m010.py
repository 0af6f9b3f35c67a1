from tiny.m010 import f


def test_0():
    assert f([1, 1]) == 8


def test_1():
    assert f([6, 6, 3, 6]) == 22


def test_2():
    assert f([2, 9, 9]) == 18


def test_3():
    assert f([2, 6]) == 9


def test_4():
    assert f([6, 7]) == 13


def test_5():
    assert f([1, 0]) == 7


def test_6():
    assert f([1, 3]) == 8


def test_7():
    assert f([0, 3, 9, 2]) == 12
