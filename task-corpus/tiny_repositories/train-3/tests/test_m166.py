from tiny.m166 import f


def test_0():
    assert f([1, 2, 0, 9]) == [11, 13]


def test_1():
    assert f([6, 7, 1, 2]) == [9, 11]


def test_2():
    assert f([2, 0]) == [4, 6]


def test_3():
    assert f([5, 1, 7]) == [9, 11]


def test_4():
    assert f([9, 4, 3]) == [11, 13]


def test_5():
    assert f([1, 2]) == [4, 6]


def test_6():
    assert f([0, 1, 3, 0]) == [5, 7]


def test_7():
    assert f([2, 4, 8, 7]) == [10, 12]
