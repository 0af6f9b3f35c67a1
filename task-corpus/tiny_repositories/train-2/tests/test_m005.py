from tiny.m005 import f


def test_0():
    assert f([2, 7]) == 2


def test_1():
    assert f([1, 6, 5, 6]) == 1


def test_2():
    assert f([2, 3]) == 2


def test_3():
    assert f([7, 5]) == 5


def test_4():
    assert f([5, 1]) == 1


def test_5():
    assert f([9, 9, 2]) == 2


def test_6():
    assert f([3, 4, 1, 1]) == 1


def test_7():
    assert f([4, 7, 4, 0]) == 0
