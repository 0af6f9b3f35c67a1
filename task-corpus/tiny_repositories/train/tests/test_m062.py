from tiny.m062 import f


def test_0():
    assert f([9, 0, 2]) == 'c'


def test_1():
    assert f([9, 3, 4, 0]) == 'c'


def test_2():
    assert f([5, 1]) == 'c'


def test_3():
    assert f([2, 1]) == 'cc'


def test_4():
    assert f([0, 2, 1]) == ''


def test_5():
    assert f([3, 5, 1, 1]) == 'ccc'


def test_6():
    assert f([2, 3, 5]) == 'cc'


def test_7():
    assert f([5, 2, 0]) == 'c'
