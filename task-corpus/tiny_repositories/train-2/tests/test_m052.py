from tiny.m052 import f


def test_0():
    assert f([4, 1]) == [4, 1]


def test_1():
    assert f([8, 5, 5, 0]) == [8, 5]


def test_2():
    assert f([6, 7, 5]) == [6, 7]


def test_3():
    assert f([2, 2, 8]) == [2, 2]


def test_4():
    assert f([6, 3, 0, 7]) == [6, 3]


def test_5():
    assert f([2, 4, 2, 0]) == [2, 4]


def test_6():
    assert f([9, 9, 0]) == [9, 9]


def test_7():
    assert f([4, 6]) == [4, 6]
