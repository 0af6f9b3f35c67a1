from tiny.m162 import f


def test_0():
    assert f([2, 0, 5]) == [0, 80, 32]


def test_1():
    assert f([5, 1]) == [16, 80]


def test_2():
    assert f([7, 1]) == [16, 112]


def test_3():
    assert f([7, 8, 9]) == [128, 144, 112]


def test_4():
    assert f([9, 1]) == [16, 144]


def test_5():
    assert f([2, 0, 4, 8]) == [0, 64, 128, 32]


def test_6():
    assert f([2, 4]) == [64, 32]


def test_7():
    assert f([5, 9, 5]) == [144, 80, 80]
