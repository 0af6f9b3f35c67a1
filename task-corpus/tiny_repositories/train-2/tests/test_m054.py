from tiny.m054 import f


def test_0():
    assert f([2, 8, 3]) == 0


def test_1():
    assert f([9, 6]) == 0


def test_2():
    assert f([6, 1]) == 4


def test_3():
    assert f([6, 7, 6, 9]) == 0


def test_4():
    assert f([3, 6, 8]) == 1


def test_5():
    assert f([3, 9]) == 4


def test_6():
    assert f([2, 3, 1, 4]) == 1


def test_7():
    assert f([4, 0]) == 16
