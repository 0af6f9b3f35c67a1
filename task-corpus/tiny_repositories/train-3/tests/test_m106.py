from tiny.m106 import f


def test_0():
    assert f([9, 1, 3]) == 0


def test_1():
    assert f([6, 7, 8]) == [8, 7, 6]


def test_2():
    assert f([4, 9]) == 3


def test_3():
    assert f([1, 4]) == 3


def test_4():
    assert f([0, 2]) == 0


def test_5():
    assert f([7, 2]) == 3


def test_6():
    assert f([4, 1, 2]) == 2


def test_7():
    assert f([8, 9]) == 3
