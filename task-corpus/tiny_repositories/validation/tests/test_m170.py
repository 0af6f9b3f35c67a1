from tiny.m170 import f


def test_0():
    assert f([9, 6, 7]) == 9339136


def test_1():
    assert f([6, 6, 6, 6]) == 11062276


def test_2():
    assert f([5, 9, 4, 0]) == 6330256


def test_3():
    assert f([8, 6]) == 3904576


def test_4():
    assert f([4, 6, 6]) == 5044516


def test_5():
    assert f([6, 4, 5]) == 4456321


def test_6():
    assert f([5, 7]) == 2910436


def test_7():
    assert f([5, 9, 0, 9]) == 10182481
