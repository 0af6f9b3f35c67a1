from tiny.m017 import f


def test_0():
    assert f('bb') == 'bbc'


def test_1():
    assert f('edad') == 'dadec'


def test_2():
    assert f('bd') == 'dbc'


def test_3():
    assert f('cbd') == 'dbcc'


def test_4():
    assert f('ee') == 'eec'


def test_5():
    assert f('bbdb') == 'bdbbc'


def test_6():
    assert f('cb') == 'bcc'


def test_7():
    assert f('cc') == 'ccc'
