from tiny.m021 import f


def test_0():
    assert f([0, 7, 2, 2]) == [7]


def test_1():
    assert f([8, 9, 5]) == [8, 5, 9]


def test_2():
    assert f([7, 3]) == [7]


def test_3():
    assert f([0, 8, 4]) == [4, 8]


def test_4():
    assert f([9, 0]) == [9]


def test_5():
    assert f([1, 6, 8, 3]) == [8, 6]


def test_6():
    assert f([0, 9, 8, 1]) == [8, 9]


def test_7():
    assert f([2, 3, 7]) == [7]
