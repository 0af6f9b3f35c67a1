from tiny.m109 import f


def test_0():
    assert f('aad') == ''


def test_1():
    assert f('cbea') == 'c'


def test_2():
    assert f('bc') == 'b'


def test_3():
    assert f('aeac') == ''


def test_4():
    assert f('bca') == 'b'


def test_5():
    assert f('dbdd') == 'dbd'


def test_6():
    assert f('dc') == 'd'


def test_7():
    assert f('abb') == 'b'
