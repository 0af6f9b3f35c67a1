from tiny.m039 import f


def test_0():
    assert f([2, 3, 7]) == [5]


def test_1():
    assert f([5, 6]) == [1]


def test_2():
    assert f([8, 8]) == [0]


def test_3():
    assert f([0, 8]) == [8]


def test_4():
    assert f([5, 8]) == [3]


def test_5():
    assert f([1, 3]) == [2]


def test_6():
    assert f([6, 3, 6, 9]) == [6]


def test_7():
    assert f([6, 6]) == [0]
