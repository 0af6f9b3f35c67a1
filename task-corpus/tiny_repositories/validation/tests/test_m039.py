from tiny.m039 import f


def test_0():
    assert f('add') == 'ddc'


def test_1():
    assert f('aee') == 'eec'


def test_2():
    assert f('dc') == 'dcc'


def test_3():
    assert f('de') == 'dec'


def test_4():
    assert f('dacb') == 'acbc'


def test_5():
    assert f('eea') == 'eac'


def test_6():
    assert f('ee') == 'eec'


def test_7():
    assert f('aaec') == 'aecc'
