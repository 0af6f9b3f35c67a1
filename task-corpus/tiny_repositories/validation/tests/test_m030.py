from tiny.m030 import f


def test_0():
    assert f([4, 0]) == 4


def test_1():
    assert f([7, 7]) == 14


def test_2():
    assert f([4, 3]) == 7


def test_3():
    assert f([5, 4]) == 9


def test_4():
    assert f([8, 1, 8]) == 16


def test_5():
    assert f([6, 8, 6]) == 12


def test_6():
    assert f([9, 8, 0]) == 9


def test_7():
    assert f([9, 5, 4]) == 13
