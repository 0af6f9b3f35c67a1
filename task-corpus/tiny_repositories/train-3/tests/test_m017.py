from tiny.m017 import f


def test_0():
    assert f([6, 8, 4]) == [6, 8]


def test_1():
    assert f([1, 4, 4]) == [1, 4]


def test_2():
    assert f([1, 9]) == [1, 9]


def test_3():
    assert f([9, 8, 3]) == [9, 8]


def test_4():
    assert f([7, 9, 3, 3]) == [7, 9]


def test_5():
    assert f([5, 6, 7, 7]) == [5, 6]


def test_6():
    assert f([9, 8, 5]) == [9, 8]


def test_7():
    assert f([5, 9]) == [5, 9]
