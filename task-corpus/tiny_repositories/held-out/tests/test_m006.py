from tiny.m006 import f


def test_0():
    assert f([5, 5, 9, 3]) == [18, 10, 10, 18, 6]


def test_1():
    assert f([9, 1]) == [18, 18, 2]


def test_2():
    assert f([9, 8, 6, 9]) == [18, 18, 16, 12, 18]


def test_3():
    assert f([6, 8, 3, 0]) == [18, 12, 16, 6, 0]


def test_4():
    assert f([3, 5, 1, 7]) == [18, 6, 10, 2, 14]


def test_5():
    assert f([0, 3]) == [18, 0, 6]


def test_6():
    assert f([4, 5, 9, 6]) == [18, 8, 10, 18, 12]


def test_7():
    assert f([8, 4, 6]) == [18, 16, 8, 12]
