from tiny.m065 import f


def test_0():
    assert f('bdc') == 'd'


def test_1():
    assert f('abdc') == 'bd'


def test_2():
    assert f('bce') == 'c'


def test_3():
    assert f('bde') == 'd'


def test_4():
    assert f('bac') == 'a'


def test_5():
    assert f('bc') == ''


def test_6():
    assert f('dab') == 'a'


def test_7():
    assert f('eea') == 'e'
