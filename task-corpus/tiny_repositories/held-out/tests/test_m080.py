from tiny.m080 import f


def test_0():
    assert f([5, 0, 0]) == 16


def test_1():
    assert f([3, 5]) == 19


def test_2():
    assert f([2, 4, 8, 1]) == 26


def test_3():
    assert f([3, 7]) == 21


def test_4():
    assert f([7, 1, 9, 7]) == 35


def test_5():
    assert f([9, 9]) == 29


def test_6():
    assert f([9, 9, 4, 7]) == 40


def test_7():
    assert f([7, 3, 0]) == 21
