from tiny.m162 import f


def test_0():
    assert f('aac') == 'CAA'


def test_1():
    assert f('ab') == 'BA'


def test_2():
    assert f('daec') == 'CEAD'


def test_3():
    assert f('eda') == 'ADE'


def test_4():
    assert f('cb') == 'BC'


def test_5():
    assert f('db') == 'BD'


def test_6():
    assert f('dcd') == 'DCD'


def test_7():
    assert f('dae') == 'EAD'
