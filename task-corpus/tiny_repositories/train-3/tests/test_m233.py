from tiny.m233 import f


def test_0():
    assert f('ead') == 'EADEAD'


def test_1():
    assert f('ac') == 'ACAC'


def test_2():
    assert f('bb') == 'BBBB'


def test_3():
    assert f('bed') == 'BEDBED'


def test_4():
    assert f('abea') == 'ABEAABEA'


def test_5():
    assert f('bc') == 'BCBC'


def test_6():
    assert f('beb') == 'BEBBEB'


def test_7():
    assert f('ddc') == 'DDCDDC'
