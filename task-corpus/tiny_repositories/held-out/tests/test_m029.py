from tiny.m029 import f


def test_0():
    assert f('eee') == ['e', 'e']


def test_1():
    assert f('db') == ['b']


def test_2():
    assert f('bd') == ['d']


def test_3():
    assert f('acee') == ['a', 'c', 'e']


def test_4():
    assert f('bbce') == ['b', 'b', 'c']


def test_5():
    assert f('cba') == ['c', 'b']


def test_6():
    assert f('dcc') == ['c', 'd']


def test_7():
    assert f('bdda') == ['a', 'b', 'd']
