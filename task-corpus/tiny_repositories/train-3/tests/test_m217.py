from tiny.m217 import f


def test_0():
    assert f([8, 2, 0, 1]) == [8, 1]


def test_1():
    assert f([3, 0, 9]) == [3]


def test_2():
    assert f([4, 1]) == [4, 1]


def test_3():
    assert f([7, 7]) == [7, 7]


def test_4():
    assert f([3, 5, 0, 6]) == [3, 6]


def test_5():
    assert f([3, 3, 4]) == [3, 4]


def test_6():
    assert f([0, 5, 2, 1]) == [0, 1]


def test_7():
    assert f([4, 0, 6]) == [4, 6]
