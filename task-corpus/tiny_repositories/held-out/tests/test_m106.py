from tiny.m106 import f


def test_0():
    assert f([0, 0]) == []


def test_1():
    assert f([3, 2, 7, 8]) == [7, 8]


def test_2():
    assert f([9, 3]) == [9]


def test_3():
    assert f([4, 0]) == []


def test_4():
    assert f([0, 2]) == []


def test_5():
    assert f([6, 1]) == [6]


def test_6():
    assert f([6, 9]) == [6, 9]


def test_7():
    assert f([2, 2, 0, 4]) == []
