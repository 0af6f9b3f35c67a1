from tiny.m035 import f


def test_0():
    assert f([3, 9, 8]) == [3]


def test_1():
    assert f([2, 4, 4, 9]) == [2]


def test_2():
    assert f([7, 9]) == []


def test_3():
    assert f([9, 0, 9, 3]) == [0, 3]


def test_4():
    assert f([6, 7, 2, 5]) == [2]


def test_5():
    assert f([4, 0]) == [0]


def test_6():
    assert f([5, 7, 9, 2]) == [2]


def test_7():
    assert f([0, 7]) == [0]
