from tiny.m150 import f


def test_0():
    assert f('bae') == 'aeae'


def test_1():
    assert f('cc') == 'cccc'


def test_2():
    assert f('bc') == 'cc'


def test_3():
    assert f('aab') == 'aaaa'


def test_4():
    assert f('cae') == 'caecae'


def test_5():
    assert f('be') == 'ee'


def test_6():
    assert f('bcd') == 'cdcd'


def test_7():
    assert f('dde') == 'ddedde'
