from tiny.m152 import f


def test_0():
    assert f('acbb') == 'acxx'


def test_1():
    assert f('aaac') == 'aaac'


def test_2():
    assert f('bc') == 'xc'


def test_3():
    assert f('bacd') == 'xacd'


def test_4():
    assert f('ed') == 'zd'


def test_5():
    assert f('dd') == 'dd'


def test_6():
    assert f('cbba') == 'cxxa'


def test_7():
    assert f('ebd') == 'zxd'
