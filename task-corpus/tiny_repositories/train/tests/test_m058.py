from tiny.m058 import f


def test_0():
    assert f([2, 2]) == [2, 2]


def test_1():
    assert f([3, 6]) == [6, 3]


def test_2():
    assert f([3, 2]) == [3, 2]


def test_3():
    assert f([3, 1]) == [3, 1]


def test_4():
    assert f([4, 3]) == [4, 3]


def test_5():
    assert f([5, 5, 8, 1]) == [5, 5, 1]


def test_6():
    assert f([2, 9]) == [2]


def test_7():
    assert f([2, 8, 3, 9]) == [3, 2]
