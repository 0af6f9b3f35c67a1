from tiny.m139 import f


def test_0():
    assert f([3, 9, 0, 7]) == ''


def test_1():
    assert f([2, 2, 0, 1]) == ''


def test_2():
    assert f([5, 9]) == 'aaaaa'


def test_3():
    assert f([7, 5, 2, 5]) == 'aa'


def test_4():
    assert f([5, 4, 1, 9]) == 'a'


def test_5():
    assert f([9, 5, 1]) == 'a'


def test_6():
    assert f([7, 8, 1, 4]) == 'a'


def test_7():
    assert f([8, 9, 4]) == 'aaaa'
