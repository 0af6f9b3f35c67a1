from tiny.m075 import f


def test_0():
    assert f([2, 6]) == [2, 6, 5]


def test_1():
    assert f([0, 0, 7, 3]) == [0, 0, 7, 3, 5]


def test_2():
    assert f([4, 9]) == [4, 9, 5]


def test_3():
    assert f([1, 2, 5, 5]) == [1, 2, 5, 5, 5]


def test_4():
    assert f([4, 8, 5, 7]) == [4, 8, 5, 7, 5]


def test_5():
    assert f([7, 7, 5]) == [7, 7, 5, 5]


def test_6():
    assert f([6, 0, 3, 7]) == [6, 0, 3, 7, 5]


def test_7():
    assert f([0, 8, 1]) == [0, 8, 1, 5]
