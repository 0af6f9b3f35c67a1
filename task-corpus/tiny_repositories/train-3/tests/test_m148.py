from tiny.m148 import f


def test_0():
    assert f([0, 4, 6]) == [5, 5, 6]


def test_1():
    assert f([4, 9]) == [5, 9]


def test_2():
    assert f([6, 4, 0, 3]) == [5, 5, 5, 6]


def test_3():
    assert f([6, 0, 5]) == [5, 5, 6]


def test_4():
    assert f([5, 1, 0, 1]) == [5, 5, 5, 5]


def test_5():
    assert f([5, 0, 4, 7]) == [5, 5, 5, 7]


def test_6():
    assert f([8, 9, 3, 5]) == [5, 5, 8, 9]


def test_7():
    assert f([3, 2, 0]) == [5, 5, 5]
