from tiny.m087 import f


def test_0():
    assert f('daed') == 'd'


def test_1():
    assert f('ee') == 'e'


def test_2():
    assert f('eecd') == 'd'


def test_3():
    assert f('dba') == ['a', 'b']


def test_4():
    assert f('bca') == 'a'


def test_5():
    assert f('bc') == 'c'


def test_6():
    assert f('caa') == 'a'


def test_7():
    assert f('bbd') == ['d', 'b']
