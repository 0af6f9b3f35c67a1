from tiny.m178 import f


def test_0():
    assert f([5, 4, 8, 0]) == [0, 0]


def test_1():
    assert f([8, 8]) == [-3, 0]


def test_2():
    assert f([4, 0, 8, 3]) == [1, 0]


def test_3():
    assert f([8, 2, 5, 0]) == [-3, 0]


def test_4():
    assert f([0, 9, 9, 6]) == [5, 0]


def test_5():
    assert f([2, 1, 9]) == [3, 0]


def test_6():
    assert f([8, 5]) == [-3, 0]


def test_7():
    assert f([2, 6, 1]) == [3, 0]
