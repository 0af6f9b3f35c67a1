from tiny.m205 import f


def test_0():
    assert f([1, 5, 5]) == 148


def test_1():
    assert f([7, 5, 5]) == 820


def test_2():
    assert f([9, 1]) == 1044


def test_3():
    assert f([3, 3, 7, 4]) == 372


def test_4():
    assert f([5, 6]) == 596


def test_5():
    assert f([0, 4]) == 164


def test_6():
    assert f([0, 5, 1, 3]) == 164


def test_7():
    assert f([7, 4]) == 820
