from tiny.m167 import f


def test_0():
    assert f([6, 3, 6, 9]) == [15, 30, 45, 30]


def test_1():
    assert f([2, 8, 5, 0]) == [40, 25, 0, 10]


def test_2():
    assert f([3, 1]) == [5, 15]


def test_3():
    assert f([5, 3]) == [15, 25]


def test_4():
    assert f([7, 9, 5, 7]) == [45, 25, 35, 35]


def test_5():
    assert f([7, 7, 8, 7]) == [35, 40, 35, 35]


def test_6():
    assert f([7, 9, 9]) == [45, 45, 35]


def test_7():
    assert f([5, 2]) == [10, 25]
