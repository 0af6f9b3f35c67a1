from tiny.m022 import f


def test_0():
    assert f([9, 5]) == 3


def test_1():
    assert f([4, 6, 6]) == 0


def test_2():
    assert f([2, 2]) == 4


def test_3():
    assert f([9, 9, 5, 2]) == 4


def test_4():
    assert f([1, 6, 6]) == 1


def test_5():
    assert f([7, 7, 9]) == 0


def test_6():
    assert f([2, 6]) == 5


def test_7():
    assert f([9, 7, 7, 0]) == 0
