from tiny.m171 import f


def test_0():
    assert f('ce') == 'ce'


def test_1():
    assert f('db') == 'db'


def test_2():
    assert f('dccb') == 'dbcc'


def test_3():
    assert f('bc') == 'bc'


def test_4():
    assert f('dcd') == 'ddc'


def test_5():
    assert f('ee') == 'ee'


def test_6():
    assert f('ad') == 'ad'


def test_7():
    assert f('cc') == 'cc'
