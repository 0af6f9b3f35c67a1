from tiny.m002 import f


def test_0():
    assert f([0, 2, 3]) == [7, 7, 7]


def test_1():
    assert f([3, 3, 2, 1]) == [7, 7, 7, 7]


def test_2():
    assert f([7, 1, 1, 0]) == [8, 7, 7, 7]


def test_3():
    assert f([4, 7, 0, 0]) == [7, 8, 7, 7]


def test_4():
    assert f([0, 7, 7]) == [7, 8, 8]


def test_5():
    assert f([9, 6, 4, 5]) == [10, 7, 7, 7]


def test_6():
    assert f([5, 2, 8, 6]) == [7, 7, 9, 7]


def test_7():
    assert f([8, 3]) == [9, 7]
