from tiny.m041 import f


def test_0():
    assert f([1, 1]) == []


def test_1():
    assert f([7, 9, 3]) == [9]


def test_2():
    assert f([9, 4]) == []


def test_3():
    assert f([4, 4, 8]) == [4]


def test_4():
    assert f([1, 7]) == []


def test_5():
    assert f([7, 9]) == []


def test_6():
    assert f([1, 2, 7]) == [2]


def test_7():
    assert f([4, 7, 8]) == [7]
