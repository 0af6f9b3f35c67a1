from tiny.m072 import f


def test_0():
    assert f([2, 2, 2, 0]) == [2, 2, 2]


def test_1():
    assert f([8, 0, 5]) == [8, 5]


def test_2():
    assert f([1, 4]) == [4]


def test_3():
    assert f([4, 0, 6, 0]) == [4, 6]


def test_4():
    assert f([4, 5]) == [4, 5]


def test_5():
    assert f([3, 7, 6]) == [3, 7, 6]


def test_6():
    assert f([1, 9, 6, 4]) == [9, 6, 4]


def test_7():
    assert f([2, 3, 9]) == [2, 3, 9]
