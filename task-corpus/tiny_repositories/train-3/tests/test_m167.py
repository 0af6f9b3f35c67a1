from tiny.m167 import f


def test_0():
    assert f('cce') == 'czc'


def test_1():
    assert f('ed') == 'dz'


def test_2():
    assert f('abc') == 'bca'


def test_3():
    assert f('daa') == 'aad'


def test_4():
    assert f('ccad') == 'cadc'


def test_5():
    assert f('eebc') == 'zbcz'


def test_6():
    assert f('ea') == 'az'


def test_7():
    assert f('ee') == 'zz'
