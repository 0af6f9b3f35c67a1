from tiny.m220 import f


def test_0():
    assert f([1, 5, 0, 7]) == [30, 0]


def test_1():
    assert f([2, 1, 6]) == [6, 36]


def test_2():
    assert f([1, 7]) == [42, 6]


def test_3():
    assert f([6, 3, 2, 6]) == [18, 12]


def test_4():
    assert f([4, 0, 3, 4]) == [0, 18]


def test_5():
    assert f([8, 9, 9]) == [54, 54]


def test_6():
    assert f([9, 6, 9]) == [36, 54]


def test_7():
    assert f([1, 3, 7, 2]) == [18, 42]
