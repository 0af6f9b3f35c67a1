from tiny.m166 import f


def test_0():
    assert f([7, 7, 9, 9]) == [7, 7]


def test_1():
    assert f([0, 2, 1, 7]) == [0, 2, 1, 7]


def test_2():
    assert f([3, 0, 7]) == [3, 0, 7]


def test_3():
    assert f([2, 7, 5]) == [2, 7, 5]


def test_4():
    assert f([2, 3]) == [2, 3]


def test_5():
    assert f([0, 4]) == [0, 4]


def test_6():
    assert f([9, 9]) == []


def test_7():
    assert f([3, 5]) == [3, 5]
