from tiny.m087 import f


def test_0():
    assert f([9, 9, 0]) == [9, 5, 9]


def test_1():
    assert f([9, 4]) == [5, 9]


def test_2():
    assert f([1, 5, 7]) == [5, 7, 5]


def test_3():
    assert f([7, 9]) == [9, 7]


def test_4():
    assert f([0, 0, 9, 8]) == [5, 9, 8, 5]


def test_5():
    assert f([7, 2, 1]) == [5, 5, 7]


def test_6():
    assert f([1, 9, 1]) == [9, 5, 5]


def test_7():
    assert f([3, 0, 8, 3]) == [5, 8, 5, 5]
