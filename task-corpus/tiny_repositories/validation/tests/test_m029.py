from tiny.m029 import f


def test_0():
    assert f([8, 7, 2]) == [8, 2]


def test_1():
    assert f([7, 3, 1]) == [7, 1]


def test_2():
    assert f([6, 7]) == [6, 7]


def test_3():
    assert f([7, 9]) == [7, 9]


def test_4():
    assert f([7, 7, 4]) == [7, 4]


def test_5():
    assert f([5, 4, 6, 1]) == [5, 1]


def test_6():
    assert f([8, 0]) == [8, 0]


def test_7():
    assert f([3, 0, 0, 5]) == [3, 5]
