from tiny.m009 import f


def test_0():
    assert f([1, 0]) == 1


def test_1():
    assert f([1, 3]) == 1


def test_2():
    assert f([0, 3, 9, 2]) == 0


def test_3():
    assert f([9, 5, 6]) == 9


def test_4():
    assert f([9, 9, 1, 1]) == 9


def test_5():
    assert f([6, 2, 1]) == 6


def test_6():
    assert f([6, 7, 3]) == 6


def test_7():
    assert f([8, 5, 5, 5]) == 8
