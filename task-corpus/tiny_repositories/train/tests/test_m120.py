from tiny.m120 import f


def test_0():
    assert f('dac') == 'dad'


def test_1():
    assert f('cb') == 'bd'


def test_2():
    assert f('db') == 'dbd'


def test_3():
    assert f('ad') == 'add'


def test_4():
    assert f('cdae') == 'daed'


def test_5():
    assert f('ca') == 'ad'


def test_6():
    assert f('dc') == 'dd'


def test_7():
    assert f('ee') == 'eed'
