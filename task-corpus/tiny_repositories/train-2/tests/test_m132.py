from tiny.m132 import f


def test_0():
    assert f([2, 2]) == 2


def test_1():
    assert f([1, 2, 2]) == 2


def test_2():
    assert f([4, 0]) == 4


def test_3():
    assert f([5, 4]) == [0, 4, 0, 1, 2]


def test_4():
    assert f([2, 3, 5, 6]) == [2, 3, 0, 1, 0, 1, 2]


def test_5():
    assert f([6, 0]) == [1, 0, 0, 1, 2]


def test_6():
    assert f([9, 4, 2]) == [4, 4, 2, 0, 1, 2]


def test_7():
    assert f([3, 6, 3, 3]) == [3, 1, 3, 3, 0, 1, 2]
