from tiny.m235 import f


def test_0():
    assert f([4, 8]) == [4, 8]


def test_1():
    assert f([1, 3, 3]) == []


def test_2():
    assert f([4, 8, 7]) == [4, 8, 7]


def test_3():
    assert f([3, 6]) == [6]


def test_4():
    assert f([1, 0]) == []


def test_5():
    assert f([5, 8]) == [5, 8]


def test_6():
    assert f([6, 9, 1, 9]) == [6, 9, 9]


def test_7():
    assert f([8, 9, 4]) == [8, 9, 4]
