from tiny.m003 import f


def test_0():
    assert f([6, 9, 9, 1]) == [6]


def test_1():
    assert f([0, 1, 6, 9]) == [6]


def test_2():
    assert f([9, 9]) == []


def test_3():
    assert f([4, 0, 4, 5]) == [4, 4, 5]


def test_4():
    assert f([3, 4]) == [3, 4]


def test_5():
    assert f([1, 3, 8, 1]) == [3]


def test_6():
    assert f([1, 2]) == [2]


def test_7():
    assert f([4, 2]) == [4, 2]
