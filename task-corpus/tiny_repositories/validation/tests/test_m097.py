from tiny.m097 import f


def test_0():
    assert f('dd') == 'dd'


def test_1():
    assert f('dedd') == 'dedd'


def test_2():
    assert f('dda') == 'dda'


def test_3():
    assert f('ddde') == 'ddde'


def test_4():
    assert f('bbce') == 'bbce'


def test_5():
    assert f('ca') == 'ca'


def test_6():
    assert f('ecd') == 'ecd'


def test_7():
    assert f('ab') == 'ab'
