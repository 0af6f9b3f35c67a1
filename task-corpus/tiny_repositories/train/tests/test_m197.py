from tiny.m197 import f


def test_0():
    assert f([9, 2]) == [9]


def test_1():
    assert f([0, 2, 3]) == []


def test_2():
    assert f([9, 4, 0, 5]) == [9, 4]


def test_3():
    assert f([4, 6]) == [4, 6]


def test_4():
    assert f([8, 4, 4]) == [8, 4, 4]


def test_5():
    assert f([1, 8, 4]) == [8, 4]


def test_6():
    assert f([9, 9]) == [9, 9]


def test_7():
    assert f([4, 8, 3]) == [4, 8]
