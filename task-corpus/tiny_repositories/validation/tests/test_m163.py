from tiny.m163 import f


def test_0():
    assert f([3, 2, 3]) == '3'


def test_1():
    assert f([0, 7]) == '7'


def test_2():
    assert f([2, 9, 7, 9]) == '9'


def test_3():
    assert f([4, 3]) == '3'


def test_4():
    assert f([8, 1, 6, 6]) == '6'


def test_5():
    assert f([8, 7]) == '7'


def test_6():
    assert f([1, 4]) == '4'


def test_7():
    assert f([0, 6]) == '6'
