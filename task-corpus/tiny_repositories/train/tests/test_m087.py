from tiny.m087 import f


def test_0():
    assert f([5, 0, 0]) == [5, 0]


def test_1():
    assert f([3, 5]) == [3]


def test_2():
    assert f([2, 4, 8, 1]) == [2, 4]


def test_3():
    assert f([3, 7]) == [3]


def test_4():
    assert f([7, 1, 9, 7]) == [1]


def test_5():
    assert f([9, 9]) == []


def test_6():
    assert f([9, 9, 4, 7]) == [4]


def test_7():
    assert f([7, 3, 0]) == [3]
