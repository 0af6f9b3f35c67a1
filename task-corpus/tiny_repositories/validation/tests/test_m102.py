from tiny.m102 import f


def test_0():
    assert f([2, 4, 9]) == [9]


def test_1():
    assert f([0, 5, 6]) == [6]


def test_2():
    assert f([1, 9, 1, 5]) == [9]


def test_3():
    assert f([7, 7, 9]) == [7, 7, 9]


def test_4():
    assert f([2, 0, 8]) == [8]


def test_5():
    assert f([8, 7, 7]) == [8, 7, 7]


def test_6():
    assert f([3, 5]) == []


def test_7():
    assert f([7, 1, 5]) == [7]
