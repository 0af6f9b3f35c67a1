from tiny.m184 import f


def test_0():
    assert f([1, 2]) == []


def test_1():
    assert f([4, 9]) == [9]


def test_2():
    assert f([3, 8]) == [8]


def test_3():
    assert f([9, 6, 8, 5]) == [6, 8, 5]


def test_4():
    assert f([8, 7, 9, 3]) == [7, 9]


def test_5():
    assert f([7, 5, 3, 2]) == [5]


def test_6():
    assert f([6, 6, 9]) == [6, 9]


def test_7():
    assert f([4, 3, 2, 5]) == [5]
