from tiny.m198 import f


def test_0():
    assert f([6, 5]) == [6, 5]


def test_1():
    assert f([7, 9]) == [9, 7]


def test_2():
    assert f([4, 6, 3]) == [6, 4, 3]


def test_3():
    assert f([1, 5, 1, 5]) == [5, 5, 1, 1]


def test_4():
    assert f([0, 4, 7]) == [7, 4, 0]


def test_5():
    assert f([0, 2, 1]) == [2, 1, 0]


def test_6():
    assert f([1, 5, 3]) == [5, 3, 1]


def test_7():
    assert f([4, 7, 6]) == [7, 6]
