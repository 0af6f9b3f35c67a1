from tiny.m071 import f


def test_0():
    assert f([7, 8]) == [8]


def test_1():
    assert f([4, 8, 8, 7]) == [8, 8, 7]


def test_2():
    assert f([8, 8, 5]) == [8, 5]


def test_3():
    assert f([0, 0, 4, 9]) == [9, 4, 0]


def test_4():
    assert f([6, 7, 2, 9]) == [9, 7, 2]


def test_5():
    assert f([2, 9]) == [9]


def test_6():
    assert f([7, 1, 1, 9]) == [9, 1, 1]


def test_7():
    assert f([3, 4, 5, 9]) == [9, 5, 4]
