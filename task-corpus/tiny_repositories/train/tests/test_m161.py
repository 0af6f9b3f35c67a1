from tiny.m161 import f


def test_0():
    assert f([2, 9, 7, 9]) == [12, 54, 42, 54]


def test_1():
    assert f([4, 3]) == [24, 18]


def test_2():
    assert f([8, 1, 6, 6]) == [48, 6, 36, 36]


def test_3():
    assert f([8, 7]) == [48, 42]


def test_4():
    assert f([1, 4]) == [6, 24]


def test_5():
    assert f([0, 6]) == [0, 36]


def test_6():
    assert f([3, 6]) == [18, 36]


def test_7():
    assert f([4, 7]) == [24, 42]
