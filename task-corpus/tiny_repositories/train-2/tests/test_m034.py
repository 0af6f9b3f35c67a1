from tiny.m034 import f


def test_0():
    assert f([0, 0]) == [0]


def test_1():
    assert f([4, 4, 5]) == [4]


def test_2():
    assert f([6, 2, 7]) == [6]


def test_3():
    assert f([5, 0, 6]) == [5]


def test_4():
    assert f([9, 9, 7]) == []


def test_5():
    assert f([9, 3, 2]) == []


def test_6():
    assert f([0, 0, 9, 3]) == [0]


def test_7():
    assert f([9, 7]) == []
