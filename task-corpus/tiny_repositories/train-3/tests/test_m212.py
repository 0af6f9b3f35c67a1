from tiny.m212 import f


def test_0():
    assert f([9, 6, 2, 6]) == [54, 36, 12, 36]


def test_1():
    assert f([2, 0, 1]) == [12, 0, 6]


def test_2():
    assert f([2, 1, 6]) == [12, 6, 36]


def test_3():
    assert f([8, 9, 5, 4]) == [48, 54, 30, 24]


def test_4():
    assert f([9, 8, 7, 4]) == [54, 48, 42, 24]


def test_5():
    assert f([8, 6, 7, 3]) == [48, 36, 42, 18]


def test_6():
    assert f([6, 8, 9, 5]) == [36, 48, 54, 30]


def test_7():
    assert f([8, 0, 1]) == [48, 0, 6]
