from tiny.m121 import f


def test_0():
    assert f('cc') == 'dc'


def test_1():
    assert f('babe') == 'ddabe'


def test_2():
    assert f('cca') == 'dca'


def test_3():
    assert f('eec') == 'ddec'


def test_4():
    assert f('bda') == 'dda'


def test_5():
    assert f('aee') == 'ddee'


def test_6():
    assert f('eb') == 'ddb'


def test_7():
    assert f('ddba') == 'ddba'
