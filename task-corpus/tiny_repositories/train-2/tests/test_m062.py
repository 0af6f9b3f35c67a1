from tiny.m062 import f


def test_0():
    assert f([6, 4, 8, 0]) == [6, 4, 8]


def test_1():
    assert f([1, 7]) == [1, 7]


def test_2():
    assert f([1, 5]) == [1, 5]


def test_3():
    assert f([9, 2, 1]) == [9, 2, 1]


def test_4():
    assert f([6, 8]) == [6, 8]


def test_5():
    assert f([9, 6]) == [9, 6]


def test_6():
    assert f([8, 6]) == [8, 6]


def test_7():
    assert f([7, 5, 9]) == [7, 5, 9]
