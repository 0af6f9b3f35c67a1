from tiny.m166 import f


def test_0():
    assert f([7, 2, 4, 9]) == [9, 4, 2, 7]


def test_1():
    assert f([7, 2]) == [2, 7]


def test_2():
    assert f([3, 1, 0, 3]) == [3, 0, 1, 3]


def test_3():
    assert f([5, 8, 7]) == [7, 8, 5]


def test_4():
    assert f([2, 3, 9]) == [9, 3, 2]


def test_5():
    assert f([1, 2, 3]) == [3, 2, 1]


def test_6():
    assert f([0, 6]) == [6, 0]


def test_7():
    assert f([4, 8, 5]) == [5, 8, 4]
