from tiny.m070 import f


def test_0():
    assert f('baec') == 'baecbaec'


def test_1():
    assert f('ebca') == 'ebcaebca'


def test_2():
    assert f('cda') == 'cdacda'


def test_3():
    assert f('cdbd') == 'cdbdcdbd'


def test_4():
    assert f('ec') == 'ecec'


def test_5():
    assert f('ce') == 'cece'


def test_6():
    assert f('dea') == 'deadea'


def test_7():
    assert f('beee') == 'beeebeee'
