from tiny.m121 import f


def test_0():
    assert f([0, 4, 9]) == 0


def test_1():
    assert f([4, 1, 5]) == 1


def test_2():
    assert f([9, 5, 2]) == 5


def test_3():
    assert f([0, 8, 0]) == 0


def test_4():
    assert f([8, 6, 5]) == 6


def test_5():
    assert f([8, 1, 2, 2]) == 1


def test_6():
    assert f([2, 2]) == 2


def test_7():
    assert f([6, 0, 8, 9]) == 0
