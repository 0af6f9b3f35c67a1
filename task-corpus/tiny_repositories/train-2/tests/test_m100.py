from tiny.m100 import f


def test_0():
    assert f('dbbc') == 'bbcd'


def test_1():
    assert f('cddc') == 'ccdd'


def test_2():
    assert f('bc') == 'bc'


def test_3():
    assert f('db') == 'bd'


def test_4():
    assert f('ce') == 'ce'


def test_5():
    assert f('ea') == 'ae'


def test_6():
    assert f('daab') == 'aabd'


def test_7():
    assert f('bbcc') == 'bbcc'
