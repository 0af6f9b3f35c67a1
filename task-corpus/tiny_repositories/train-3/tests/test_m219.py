from tiny.m219 import f


def test_0():
    assert f([8, 4, 9]) == 9


def test_1():
    assert f([1, 5]) == 4


def test_2():
    assert f([7, 0, 0]) == 8


def test_3():
    assert f([4, 6]) == 5


def test_4():
    assert f([0, 9]) == 4


def test_5():
    assert f([2, 8, 8, 1]) == 4


def test_6():
    assert f([9, 6, 7]) == 10


def test_7():
    assert f([3, 7, 6, 5]) == 4
