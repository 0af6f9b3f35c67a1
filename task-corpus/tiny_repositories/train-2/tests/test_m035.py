from tiny.m035 import f


def test_0():
    assert f('aaa') == 'aaa'


def test_1():
    assert f('ac') == 'a'


def test_2():
    assert f('deaa') == 'ada'


def test_3():
    assert f('be') == 'b'


def test_4():
    assert f('abce') == 'cac'


def test_5():
    assert f('aecd') == 'cac'


def test_6():
    assert f('ad') == 'a'


def test_7():
    assert f('edbd') == 'beb'
