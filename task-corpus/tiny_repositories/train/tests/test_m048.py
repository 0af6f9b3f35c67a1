from tiny.m048 import f


def test_0():
    assert f([4, 7, 7, 6]) == 4


def test_1():
    assert f([2, 9]) == 2


def test_2():
    assert f([2, 9, 2, 3]) == 2


def test_3():
    assert f([3, 2]) == 2


def test_4():
    assert f([6, 0, 4, 7]) == 0


def test_5():
    assert f([3, 0, 3, 8]) == 0


def test_6():
    assert f([2, 8, 9, 4]) == 2


def test_7():
    assert f([2, 2, 1, 9]) == 1
