from tiny.m021 import f


def test_0():
    assert f([3, 8, 8]) == [0, 1, 2, 3, 4]


def test_1():
    assert f([1, 3, 2, 2]) == [0, 1]


def test_2():
    assert f([1, 9]) == [0]


def test_3():
    assert f([3, 5]) == [0, 1]


def test_4():
    assert f([3, 4, 6, 8]) == [0, 1, 2, 3, 4]


def test_5():
    assert f([1, 3, 2, 7]) == [0, 1, 2, 3, 4, 5]


def test_6():
    assert f([8, 6]) == [0, 1]


def test_7():
    assert f([9, 3, 1]) == [0]
