from tiny.m104 import f


def test_0():
    assert f([3, 0, 5, 0]) == [5, 2, 7, 2]


def test_1():
    assert f([0, 8]) == [2, 10]


def test_2():
    assert f([7, 5]) == [9, 7]


def test_3():
    assert f([2, 7, 8]) == [4, 9, 10]


def test_4():
    assert f([3, 8]) == [5, 10]


def test_5():
    assert f([1, 7, 4, 2]) == [3, 9, 6, 4]


def test_6():
    assert f([8, 3, 0, 5]) == [10, 5, 2, 7]


def test_7():
    assert f([9, 8]) == [11, 10]
