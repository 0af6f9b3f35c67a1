from tiny.m178 import f


def test_0():
    assert f('be') == 'eb'


def test_1():
    assert f('edec') == 'xdxc'


def test_2():
    assert f('edeb') == 'xdxb'


def test_3():
    assert f('dcbb') == 'dcbb'


def test_4():
    assert f('dde') == 'edd'


def test_5():
    assert f('cbbc') == 'cbbc'


def test_6():
    assert f('cae') == 'eac'


def test_7():
    assert f('eedc') == 'xxdc'
