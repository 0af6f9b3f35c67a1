from tiny.m036 import f


def test_0():
    assert f([6, 6]) == 35


def test_1():
    assert f([2, 8, 2, 3]) == [8, 3]


def test_2():
    assert f([7, 7, 7]) == 40


def test_3():
    assert f([2, 6, 0, 2]) == 35


def test_4():
    assert f([9, 3]) == 50


def test_5():
    assert f([5, 1, 7]) == 40


def test_6():
    assert f([8, 1]) == [8]


def test_7():
    assert f([5, 7, 5, 5]) == 40
