from tiny.m239 import f


def test_0():
    assert f('ac') == 'aw'


def test_1():
    assert f('bbbc') == 'bbbw'


def test_2():
    assert f('da') == 'da'


def test_3():
    assert f('ebe') == 'ebe'


def test_4():
    assert f('aca') == 'awa'


def test_5():
    assert f('dbd') == 'dbd'


def test_6():
    assert f('cca') == 'wwa'


def test_7():
    assert f('bcdc') == 'bwdw'
