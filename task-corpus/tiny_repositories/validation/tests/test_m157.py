from tiny.m157 import f


def test_0():
    assert f([8, 5, 6]) == [6]


def test_1():
    assert f([6, 2]) == []


def test_2():
    assert f([1, 8, 4, 2]) == [2, 4]


def test_3():
    assert f([1, 5]) == []


def test_4():
    assert f([3, 4, 2]) == [2]


def test_5():
    assert f([7, 9, 1]) == [1]


def test_6():
    assert f([9, 6, 8]) == [8]


def test_7():
    assert f([2, 2]) == []
