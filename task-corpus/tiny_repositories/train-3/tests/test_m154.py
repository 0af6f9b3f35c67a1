from tiny.m154 import f


def test_0():
    assert f([5, 3, 9]) == [9]


def test_1():
    assert f([2, 3, 1, 6]) == [6]


def test_2():
    assert f([8, 8, 7, 4]) == [8, 8, 7]


def test_3():
    assert f([2, 0, 5]) == []


def test_4():
    assert f([8, 9, 0]) == [8, 9]


def test_5():
    assert f([9, 1, 3]) == [9]


def test_6():
    assert f([5, 3, 8, 5]) == [8]


def test_7():
    assert f([1, 6, 5, 6]) == [6, 6]
