from tiny.m038 import f


def test_0():
    assert f('babe') == 'b'


def test_1():
    assert f('beec') == 'ee'


def test_2():
    assert f('bbae') == 'b'


def test_3():
    assert f('bd') == ''


def test_4():
    assert f('aa') == ''


def test_5():
    assert f('ad') == ''


def test_6():
    assert f('abda') == ''


def test_7():
    assert f('acdd') == 'd'
