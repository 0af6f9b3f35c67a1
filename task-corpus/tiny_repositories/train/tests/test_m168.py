from tiny.m168 import f


def test_0():
    assert f([9, 6]) == 24


def test_1():
    assert f([8, 5, 2]) == 24


def test_2():
    assert f([5, 8]) == 22


def test_3():
    assert f([0, 4, 3, 7]) == 23


def test_4():
    assert f([7, 3]) == 19


def test_5():
    assert f([9, 6, 7]) == 31


def test_6():
    assert f([6, 6, 6, 6]) == 33


def test_7():
    assert f([5, 9, 4, 0]) == 27
