from tiny.m119 import f


def test_0():
    assert f([1, 4, 4, 9]) == [1, 4, 4]


def test_1():
    assert f([0, 5]) == [0]


def test_2():
    assert f([6, 2, 2, 5]) == []


def test_3():
    assert f([2, 5, 4]) == []


def test_4():
    assert f([8, 9, 8]) == []


def test_5():
    assert f([6, 6, 4]) == [6, 6, 4]


def test_6():
    assert f([2, 2, 4]) == [2, 2, 4]


def test_7():
    assert f([5, 7, 4]) == []
