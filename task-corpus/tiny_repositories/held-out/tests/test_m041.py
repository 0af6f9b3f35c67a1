from tiny.m041 import f


def test_0():
    assert f([4, 9, 6]) == [4, 4, 9]


def test_1():
    assert f([7, 3, 6, 8]) == [4, 7, 3, 6]


def test_2():
    assert f([7, 9, 6]) == [4, 7, 9]


def test_3():
    assert f([5, 1]) == [5]


def test_4():
    assert f([8, 3, 8, 7]) == [4, 8, 3, 8]


def test_5():
    assert f([0, 4]) == [0]


def test_6():
    assert f([1, 9, 8]) == [4, 1, 9]


def test_7():
    assert f([4, 4, 2, 9]) == [4, 4, 4, 2]
