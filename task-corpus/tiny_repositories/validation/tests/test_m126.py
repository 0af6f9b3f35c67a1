from tiny.m126 import f


def test_0():
    assert f([6, 2, 9]) == [2, 6]


def test_1():
    assert f([7, 5, 3]) == [5, 7]


def test_2():
    assert f([6, 4, 7, 9]) == [7, 4, 6]


def test_3():
    assert f([2, 6, 3, 5]) == [3, 6, 2]


def test_4():
    assert f([8, 2]) == [8]


def test_5():
    assert f([7, 9]) == [7]


def test_6():
    assert f([1, 0, 8, 5]) == [8, 0, 1]


def test_7():
    assert f([0, 4, 7]) == [4, 0]
