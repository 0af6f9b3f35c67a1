from tiny.m194 import f


def test_0():
    assert f([3, 1]) == [1, 1]


def test_1():
    assert f([6, 7, 7, 8]) == [0, 1, 1, 0]


def test_2():
    assert f([6, 3]) == [0, 1]


def test_3():
    assert f([6, 6, 5]) == [0, 0, 1]


def test_4():
    assert f([4, 8]) == [0, 0]


def test_5():
    assert f([7, 0, 9]) == [1, 0, 1]


def test_6():
    assert f([1, 0, 5, 0]) == [1, 0, 1, 0]


def test_7():
    assert f([9, 6, 1, 7]) == [1, 0, 1, 1]
