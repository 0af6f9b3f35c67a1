from tiny.m194 import f


def test_0():
    assert f([7, 8]) == [4, 7, 8]


def test_1():
    assert f([1, 1, 0, 3]) == [4, 1, 1, 0, 3]


def test_2():
    assert f([9, 3, 0]) == [4, 9, 3, 0]


def test_3():
    assert f([1, 8, 3, 7]) == [4, 1, 8, 3, 7]


def test_4():
    assert f([8, 9]) == [4, 8, 9]


def test_5():
    assert f([5, 9]) == [4, 5, 9]


def test_6():
    assert f([2, 4, 2]) == [4, 2, 4, 2]


def test_7():
    assert f([6, 1, 0]) == [4, 6, 1, 0]
