from tiny.m024 import f


def test_0():
    assert f([6, 8, 9]) == [6, 8]


def test_1():
    assert f([0, 0, 0, 7]) == [0, 0, 0]


def test_2():
    assert f([8, 3, 1]) == [8, 3]


def test_3():
    assert f([1, 4, 1, 0]) == [1, 4, 1]


def test_4():
    assert f([0, 9, 2, 7]) == [0, 9, 2]


def test_5():
    assert f([9, 4, 6, 2]) == [9, 4, 6]


def test_6():
    assert f([2, 5]) == [2]


def test_7():
    assert f([2, 5, 8]) == [2, 5]
