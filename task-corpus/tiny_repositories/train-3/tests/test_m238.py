from tiny.m238 import f


def test_0():
    assert f([1, 0, 0]) == 1


def test_1():
    assert f([9, 6]) == 81


def test_2():
    assert f([3, 2]) == 9


def test_3():
    assert f([5, 3, 2, 7]) == 25


def test_4():
    assert f([5, 1, 1, 4]) == 25


def test_5():
    assert f([4, 0, 6]) == 16


def test_6():
    assert f([6, 9, 4]) == 36


def test_7():
    assert f([2, 0]) == 4
