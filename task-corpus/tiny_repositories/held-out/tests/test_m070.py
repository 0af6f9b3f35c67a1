from tiny.m070 import f


def test_0():
    assert f([9, 5, 6, 2]) == [2, 6, 5, 9]


def test_1():
    assert f([5, 1, 1, 3]) == [3, 1, 1, 5]


def test_2():
    assert f([5, 0, 9]) == [0]


def test_3():
    assert f([8, 1]) == [1]


def test_4():
    assert f([4, 9]) == [4]


def test_5():
    assert f([8, 2]) == [2]


def test_6():
    assert f([1, 3]) == [1, 3]


def test_7():
    assert f([8, 7, 8]) == []
