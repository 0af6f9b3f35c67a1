from tiny.m131 import f


def test_0():
    assert f('cb') == 'abab'


def test_1():
    assert f('adc') == 'ad'


def test_2():
    assert f('ad') == 'ad'


def test_3():
    assert f('ecd') == 'acdacd'


def test_4():
    assert f('eae') == 'ea'


def test_5():
    assert f('bc') == 'acac'


def test_6():
    assert f('dbcb') == 'abcbabcb'


def test_7():
    assert f('ae') == 'ae'
