from tiny.m014 import f


def test_0():
    assert f('eeca') == 'acee'


def test_1():
    assert f('ee') == 'ee'


def test_2():
    assert f('ecad') == 'ace'


def test_3():
    assert f('ab') == 'ba'


def test_4():
    assert f('ce') == 'ec'


def test_5():
    assert f('cd') == 'c'


def test_6():
    assert f('bcd') == 'cb'


def test_7():
    assert f('dd') == ''
