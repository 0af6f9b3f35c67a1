from tiny.m130 import f


def test_0():
    assert f([9, 3]) == [10, 4]


def test_1():
    assert f([7, 2, 3, 9]) == [8, 3, 4, 10]


def test_2():
    assert f([4, 8, 1]) == [5, 9, 2]


def test_3():
    assert f([2, 2, 8, 0]) == [3, 3, 9, 1]


def test_4():
    assert f([6, 4, 1]) == [7, 5, 2]


def test_5():
    assert f([8, 9, 8]) == [9, 10, 9]


def test_6():
    assert f([0, 7]) == [1, 8]


def test_7():
    assert f([9, 9]) == [10, 10]
