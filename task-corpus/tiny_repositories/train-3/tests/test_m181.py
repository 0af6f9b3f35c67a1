from tiny.m181 import f


def test_0():
    assert f([0, 1, 6]) == [5, 30]


def test_1():
    assert f([1, 0, 8, 0]) == [0, 40, 0]


def test_2():
    assert f([6, 7]) == [35]


def test_3():
    assert f([3, 6]) == [30]


def test_4():
    assert f([6, 4]) == [20]


def test_5():
    assert f([4, 7]) == [35]


def test_6():
    assert f([1, 6, 9]) == [30, 45]


def test_7():
    assert f([5, 1, 3]) == [5, 15]
