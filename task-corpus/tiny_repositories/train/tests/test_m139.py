from tiny.m139 import f


def test_0():
    assert f([9, 3]) == 3


def test_1():
    assert f([8, 3, 6]) == 3


def test_2():
    assert f([7, 1]) == 1


def test_3():
    assert f([5, 4, 2, 3]) == 4


def test_4():
    assert f([4, 7]) == 4


def test_5():
    assert f([3, 2]) == 2


def test_6():
    assert f([6, 1]) == 1


def test_7():
    assert f([3, 1, 2]) == 1
