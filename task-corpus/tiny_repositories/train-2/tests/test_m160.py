from tiny.m160 import f


def test_0():
    assert f([5, 8]) == [8, 5]


def test_1():
    assert f([2, 6, 9, 9]) == [6, 2]


def test_2():
    assert f([0, 0, 0, 0]) == [0, 0]


def test_3():
    assert f([5, 5]) == [5, 5]


def test_4():
    assert f([3, 9, 0]) == [9, 3]


def test_5():
    assert f([3, 5]) == [5, 3]


def test_6():
    assert f([5, 9]) == [9, 5]


def test_7():
    assert f([8, 7, 2]) == [7, 8]
