from tiny.m159 import f


def test_0():
    assert f([8, 5, 3, 6]) == [5, 3, 6]


def test_1():
    assert f([7, 7]) == []


def test_2():
    assert f([2, 5, 0]) == [2, 5, 0]


def test_3():
    assert f([5, 2, 5, 3]) == [5, 2, 5, 3]


def test_4():
    assert f([6, 6, 2]) == [6, 6, 2]


def test_5():
    assert f([9, 7, 9]) == []


def test_6():
    assert f([9, 3, 4, 5]) == [3, 4, 5]


def test_7():
    assert f([0, 6, 4]) == [0, 6, 4]
