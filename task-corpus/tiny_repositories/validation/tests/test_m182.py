from tiny.m182 import f


def test_0():
    assert f([2, 2]) == 9


def test_1():
    assert f([6, 6, 1]) == 13


def test_2():
    assert f([6, 6, 2, 0]) == 13


def test_3():
    assert f([9, 9, 8]) == 16


def test_4():
    assert f([5, 7, 3]) == 14


def test_5():
    assert f([5, 5, 4]) == 12


def test_6():
    assert f([6, 3, 7]) == 14


def test_7():
    assert f([6, 9, 4]) == 16
