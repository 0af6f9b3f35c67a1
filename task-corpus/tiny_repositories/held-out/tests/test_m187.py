from tiny.m187 import f


def test_0():
    assert f([9, 4]) == [1, 0]


def test_1():
    assert f([7, 3]) == [3, 3]


def test_2():
    assert f([7, 8, 6]) == [3, 7, 8, 6]


def test_3():
    assert f([7, 0, 0, 0]) == [3, 7, 0, 0, 0]


def test_4():
    assert f([6, 3, 7]) == [3, 6, 3, 7]


def test_5():
    assert f([5, 6, 0, 8]) == [3, 5, 6, 0, 8]


def test_6():
    assert f([1, 4, 1, 9]) == [3, 1, 4, 1, 9]


def test_7():
    assert f([6, 4, 2, 8]) == [3, 6, 4, 2, 8]
