from tiny.m154 import f


def test_0():
    assert f([3, 3, 1, 4]) == [1, 4, 3]


def test_1():
    assert f([7, 6, 0]) == [0, 7]


def test_2():
    assert f([9, 8, 3]) == [3, 9]


def test_3():
    assert f([0, 7]) == [0]


def test_4():
    assert f([8, 2]) == [8]


def test_5():
    assert f([1, 4, 7]) == [7, 1]


def test_6():
    assert f([2, 5]) == [2]


def test_7():
    assert f([7, 2]) == [7]
