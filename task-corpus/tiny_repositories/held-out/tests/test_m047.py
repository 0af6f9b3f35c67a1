from tiny.m047 import f


def test_0():
    assert f('cde') == 'ecyy'


def test_1():
    assert f('bbe') == 'ebyy'


def test_2():
    assert f('dad') == 'ddyy'


def test_3():
    assert f('ae') == 'ayy'


def test_4():
    assert f('dde') == 'edyy'


def test_5():
    assert f('cbcd') == 'cdcyy'


def test_6():
    assert f('eb') == 'eyy'


def test_7():
    assert f('dc') == 'dyy'
