from tiny.m156 import f


def test_0():
    assert f([2, 9, 9]) == []


def test_1():
    assert f([0, 5]) == [5]


def test_2():
    assert f([2, 4, 1, 2]) == [2, 1, 4]


def test_3():
    assert f([8, 8, 0]) == [0]


def test_4():
    assert f([1, 0, 4]) == [4, 0]


def test_5():
    assert f([0, 7]) == [7]


def test_6():
    assert f([9, 7, 8]) == [7]


def test_7():
    assert f([1, 9, 3]) == [3]
