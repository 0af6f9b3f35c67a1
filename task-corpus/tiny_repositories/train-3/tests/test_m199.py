from tiny.m199 import f


def test_0():
    assert f([7, 6]) == []


def test_1():
    assert f([9, 4, 1]) == [4]


def test_2():
    assert f([9, 3]) == []


def test_3():
    assert f([7, 0]) == []


def test_4():
    assert f([6, 6, 9, 6]) == [4, 1]


def test_5():
    assert f([3, 4, 5]) == [4]


def test_6():
    assert f([9, 4]) == []


def test_7():
    assert f([4, 5, 3]) == [3]
