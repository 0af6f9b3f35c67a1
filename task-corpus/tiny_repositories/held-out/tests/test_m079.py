from tiny.m079 import f


def test_0():
    assert f('cc') == 'CC'


def test_1():
    assert f('ced') == 'CED'


def test_2():
    assert f('dd') == 'DD'


def test_3():
    assert f('bcdc') == 'BCDC'


def test_4():
    assert f('bdec') == 'BDEC'


def test_5():
    assert f('dbbb') == 'DBBB'


def test_6():
    assert f('adee') == 'ZDEE'


def test_7():
    assert f('bed') == 'BED'
