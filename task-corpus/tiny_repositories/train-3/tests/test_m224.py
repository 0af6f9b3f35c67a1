from tiny.m224 import f


def test_0():
    assert f([9, 3, 7, 8]) == [8, 81]


def test_1():
    assert f([8, 4, 3, 5]) == [8, 72]


def test_2():
    assert f([5, 9, 2]) == [8, 45]


def test_3():
    assert f([4, 3]) == [8, 36]


def test_4():
    assert f([2, 3]) == [8, 18]


def test_5():
    assert f([2, 8, 2]) == [8, 18]


def test_6():
    assert f([0, 1]) == [0, 8]


def test_7():
    assert f([6, 0, 1, 3]) == [8, 54]
