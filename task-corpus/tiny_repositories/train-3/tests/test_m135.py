from tiny.m135 import f


def test_0():
    assert f([2, 8, 6, 7]) == [6, 7]


def test_1():
    assert f([1, 2, 4, 1]) == [1, 4]


def test_2():
    assert f([8, 2]) == []


def test_3():
    assert f([9, 6, 4, 3]) == [3, 4]


def test_4():
    assert f([5, 0, 6]) == [6]


def test_5():
    assert f([6, 6, 8, 8]) == [8, 8]


def test_6():
    assert f([8, 8, 4, 9]) == [4, 9]


def test_7():
    assert f([1, 1, 3]) == [3]
