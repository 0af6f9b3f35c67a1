from tiny.m220 import f


def test_0():
    assert f([4, 6]) == [4, 6, 4]


def test_1():
    assert f([5, 1, 6, 7]) == [5, 1, 6, 7, 4]


def test_2():
    assert f([3, 7]) == [3, 7, 4]


def test_3():
    assert f([3, 9, 2, 1]) == [3, 9, 2, 1, 4]


def test_4():
    assert f([0, 6, 3, 5]) == [0, 6, 3, 5, 4]


def test_5():
    assert f([8, 7]) == [8, 7, 4]


def test_6():
    assert f([8, 0, 8]) == [8, 0, 8, 4]


def test_7():
    assert f([5, 9, 9, 8]) == [5, 9, 9, 8, 4]
