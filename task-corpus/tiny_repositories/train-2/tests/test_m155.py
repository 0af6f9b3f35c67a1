from tiny.m155 import f


def test_0():
    assert f('edee') == 'edeee'


def test_1():
    assert f('ac') == 'ace'


def test_2():
    assert f('bbc') == 'bbce'


def test_3():
    assert f('eeae') == 'eeaee'


def test_4():
    assert f('cb') == 'cbe'


def test_5():
    assert f('aabb') == 'aabbe'


def test_6():
    assert f('cadb') == 'cadbe'


def test_7():
    assert f('bae') == 'baee'
