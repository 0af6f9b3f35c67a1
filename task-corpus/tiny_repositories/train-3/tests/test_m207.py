from tiny.m207 import f


def test_0():
    assert f([9, 0, 4]) == 18


def test_1():
    assert f([8, 6]) == 17


def test_2():
    assert f([7, 2]) == 16


def test_3():
    assert f([1, 3, 3, 2]) == 12


def test_4():
    assert f([3, 4]) == 13


def test_5():
    assert f([8, 3, 2]) == 17


def test_6():
    assert f([0, 4, 3]) == 13


def test_7():
    assert f([2, 1, 8, 7]) == 17
