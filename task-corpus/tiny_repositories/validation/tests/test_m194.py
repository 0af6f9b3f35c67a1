from tiny.m194 import f


def test_0():
    assert f([7, 2]) == [2, 1]


def test_1():
    assert f([9, 0]) == [3, 0]


def test_2():
    assert f([1, 4, 2, 9]) == [4, 3, 2, 1]


def test_3():
    assert f([7, 0, 8, 2]) == [2, 2, 1, 0]


def test_4():
    assert f([2, 8, 6]) == [2, 2, 0]


def test_5():
    assert f([2, 8]) == [2, 2]


def test_6():
    assert f([1, 5, 8]) == [5, 2, 1]


def test_7():
    assert f([9, 4, 3]) == [4, 3, 3]
