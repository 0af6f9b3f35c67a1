from tiny.m049 import f


def test_0():
    assert f('ec') == 'cece'


def test_1():
    assert f('acd') == 'cdacda'


def test_2():
    assert f('cb') == 'bcbc'


def test_3():
    assert f('eb') == 'bebe'


def test_4():
    assert f('eeae') == 'eaeeeaee'


def test_5():
    assert f('abbd') == 'bbdabbda'


def test_6():
    assert f('baa') == 'aabaab'


def test_7():
    assert f('ebd') == 'bdebde'
