from tiny.m056 import f


def test_0():
    assert f([7, 5]) == [5]


def test_1():
    assert f([6, 6, 7, 4]) == [7, 4]


def test_2():
    assert f([8, 3, 4, 9]) == [4, 9]


def test_3():
    assert f([4, 7]) == []


def test_4():
    assert f([1, 8, 9]) == [9]


def test_5():
    assert f([9, 2]) == []


def test_6():
    assert f([3, 9, 1, 3]) == [3]


def test_7():
    assert f([6, 7, 2, 5]) == [5]
