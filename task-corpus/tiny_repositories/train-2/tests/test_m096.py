from tiny.m096 import f


def test_0():
    assert f([6, 5, 5, 2]) == [2, 2]


def test_1():
    assert f([5, 8, 0]) == [0, 2]


def test_2():
    assert f([1, 2, 2]) == [2, 2, 2]


def test_3():
    assert f([8, 5, 2, 1]) == [2, 1, 2]


def test_4():
    assert f([2, 5, 5]) == [2]


def test_5():
    assert f([5, 5]) == [2]


def test_6():
    assert f([0, 8, 0]) == [0, 2]


def test_7():
    assert f([4, 8, 9, 4]) == [2]
