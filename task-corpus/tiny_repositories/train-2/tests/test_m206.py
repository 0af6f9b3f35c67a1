from tiny.m206 import f


def test_0():
    assert f([3, 2, 7]) == [7]


def test_1():
    assert f([2, 9, 8]) == [9, 8]


def test_2():
    assert f([9, 8]) == [9, 8]


def test_3():
    assert f([1, 8, 8]) == [8, 8]


def test_4():
    assert f([0, 1, 4]) == []


def test_5():
    assert f([3, 7]) == [7]


def test_6():
    assert f([4, 6]) == [6]


def test_7():
    assert f([8, 3]) == [8]
